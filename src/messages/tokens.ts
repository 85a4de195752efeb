import * as z from "zod";

/** Tokens are sent in headers, so they must not contain blanks or control characters. */
const Word = z.string().regex(/^[!-~]{1,20000}$/);

/** The subscriptions that a user can log in with. */
export const LoginName = z.enum(["chatgpt", "claude"]);
export type LoginName = z.infer<typeof LoginName>;

/** The tokens of a login, as cody stores them. */
export const TokenSet = z.object({
  accessToken: Word,
  /** Without it the login ends when the access token expires. */
  refreshToken: Word.optional(),
  /** In milliseconds since 1970; absent if the issuer did not send it. */
  expiresAt: z.number().optional(),
  accountId: Word.optional(),
  /** The account and its subscription, for display. */
  email: z.string().max(320).optional(),
  plan: z.string().max(100).optional(),
  /** Fingerprint of the refresh token exchanged for these tokens: a process that still has that one is behind. */
  parent: z.string().optional(),
  /** Fingerprint of another program's tokens when cody first refreshed them. If it changes, theirs are newer. */
  root: z.string().optional(),
});
export type TokenSet = z.infer<typeof TokenSet>;

/** The tokens of a login to an MCP server, and the issuer that refreshes them. */
export const McpLogin = TokenSet.pick({ accessToken: true, refreshToken: true, expiresAt: true }).extend({
  issuer: z.object({
    url: z.url().max(2_000),
    /** cody's registration at the issuer. */
    client: z.object({ client_id: z.string().max(4_000), client_secret: z.string().max(20_000).optional() }),
    /** The issuer's metadata, as far as it is needed later. */
    metadata: z
      .object({
        issuer: z.string(),
        authorization_endpoint: z.string(),
        token_endpoint: z.string(),
        response_types_supported: z.array(z.string()),
        token_endpoint_auth_methods_supported: z.array(z.string()).optional(),
      })
      .optional(),
    /** The resource the token is valid for. */
    resource: z.string().max(4_000).optional(),
  }),
});
export type McpLogin = z.infer<typeof McpLogin>;

/** The token file in cody's home. Keys written by a newer version are preserved. */
export const TokenFile = z.looseObject({
  version: z.literal(1),
  logins: z.looseObject({ chatgpt: TokenSet.optional(), claude: TokenSet.optional() }),
  /** Keyed by the server's address. An entry that cannot be parsed is treated as absent. */
  mcp: z.record(z.string(), z.unknown()).optional(),
});
export type TokenFile = z.infer<typeof TokenFile>;

/** The part of Codex's `auth.json` that cody uses. */
export const CodexAuthFile = z.looseObject({
  tokens: z
    .looseObject({
      access_token: Word,
      refresh_token: Word.optional(),
      id_token: z.string().optional(),
      account_id: Word.nullish(),
    })
    .nullish(),
});

/** The part of Claude Code's `.credentials.json`, or of its keychain entry, that cody uses. */
export const ClaudeCredentialsFile = z.looseObject({
  claudeAiOauth: z
    .looseObject({
      accessToken: Word,
      refreshToken: Word.optional(),
      expiresAt: z.number().nullish(),
      subscriptionType: z.string().nullish(),
    })
    .nullish(),
});

/** The response of a token endpoint. */
export const TokenAnswer = z.looseObject({
  access_token: Word.optional(),
  refresh_token: Word.optional(),
  id_token: z.string().optional(),
  expires_in: z.number().nonnegative().optional(),
});
export type TokenAnswer = z.infer<typeof TokenAnswer>;

/** Claims of a token. Their signature is not verified, so they are only displayed and used as hints. */
export const TokenClaims = z.looseObject({
  exp: z.number().optional(),
  email: z.string().optional(),
  "https://api.openai.com/profile": z.looseObject({ email: z.string().optional() }).optional(),
  "https://api.openai.com/auth": z
    .looseObject({ chatgpt_account_id: z.string().optional(), chatgpt_plan_type: z.string().optional() })
    .optional(),
});
export type TokenClaims = z.infer<typeof TokenClaims>;
