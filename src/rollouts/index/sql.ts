/** The subset of a database that the index uses. */
export interface SqlDatabase {
  exec(sql: string): void;
  prepare(sql: string): SqlStatement;
  close(): void;
}

export interface SqlStatement {
  run(...values: readonly SqlValue[]): { readonly lastInsertRowid: number | bigint };
  get(...values: readonly SqlValue[]): unknown;
  all(...values: readonly SqlValue[]): unknown[];
}

export type SqlValue = string | number | bigint | null;

export type OpenSql = (path: string) => SqlDatabase;

/** Returns undefined where no database library is installed. */
export type LoadSql = () => Promise<OpenSql | undefined>;

/** Loaded on demand, because the library is large and optional. */
export const loadLibsql: LoadSql = async () => {
  try {
    const { default: Database } = await import("libsql");
    return (path) => new Database(path) as unknown as SqlDatabase;
  } catch {
    return undefined;
  }
};
