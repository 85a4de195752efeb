/** As much of a database as the index needs. */
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

/** Undefined where there is no database. */
export type LoadSql = () => Promise<OpenSql | undefined>;

/** Loaded by who needs it and nobody else: it is large, and it may not be installed. */
export const loadLibsql: LoadSql = async () => {
  try {
    const { default: Database } = await import("libsql");
    return (path) => new Database(path) as unknown as SqlDatabase;
  } catch {
    return undefined;
  }
};
