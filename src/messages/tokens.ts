import * as z from "zod";

/** It stands in a header, so it has no blanks and no control characters. */
const Word = z.string().regex(/^[!-~]{1,20000}$/);

/** What a login has given us, as cody keeps it. */
export const TokenSet = z.object({
  accessToken: Word,
  /** Without one the login ends with its access token. */
  refreshToken: Word.optional(),
  /** In milliseconds since 1970; absent where nobody has said it. */
  expiresAt: z.number().optional(),
  accountId: Word.optional(),
  /** Who is logged in and what they pay for, to be shown. */
  email: z.string().max(320).optional(),
  plan: z.string().max(100).optional(),
  /** The fingerprint of the refresh token these were got with: whoever has that one is behind. */
  parent: z.string().optional(),
  /** Of the tokens another program had when cody first renewed them: when it has others, those are newer. */
  root: z.string().optional(),
});
export type TokenSet = z.infer<typeof TokenSet>;

/** What a login to an MCP server has given us, and who gave it: the issuer it is renewed with. */
export const McpLogin = TokenSet.pick({ accessToken: true, refreshToken: true, expiresAt: true }).extend({
  issuer: z.object({
    url: z.url().max(2_000),
    /** As who cody is known there. */
    client: z.object({ client_id: z.string().max(4_000), client_secret: z.string().max(20_000).optional() }),
    /** What it says of itself, as far as it is needed later. */
    metadata: z
      .object({
        issuer: z.string(),
        authorization_endpoint: z.string(),
        token_endpoint: z.string(),
        response_types_supported: z.array(z.string()),
        token_endpoint_auth_methods_supported: z.array(z.string()).optional(),
      })
      .optional(),
    /** What the token is for. */
    resource: z.string().max(4_000).optional(),
  }),
});
export type McpLogin = z.infer<typeof McpLogin>;

/** The file below cody's home. What a newer version has put into it stays. */
export const TokenFile = z.looseObject({
  version: z.literal(1),
  logins: z.looseObject({ chatgpt: TokenSet.optional(), claude: TokenSet.optional() }),
  /** By the address of the server; one that is not understood is as none. */
  mcp: z.record(z.string(), z.unknown()).optional(),
});
export type TokenFile = z.infer<typeof TokenFile>;

/** What of Codex's `auth.json` cody uses. */
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

/** What of Claude Code's `.credentials.json`, or of its entry in the keychain, cody uses. */
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

/** What a token endpoint answers. */
export const TokenAnswer = z.looseObject({
  access_token: Word.optional(),
  refresh_token: Word.optional(),
  id_token: z.string().optional(),
  expires_in: z.number().nonnegative().optional(),
});
export type TokenAnswer = z.infer<typeof TokenAnswer>;

/** What a token says about itself; nobody has checked it, so it is only shown and guessed from. */
export const TokenClaims = z.looseObject({
  exp: z.number().optional(),
  email: z.string().optional(),
  "https://api.openai.com/profile": z.looseObject({ email: z.string().optional() }).optional(),
  "https://api.openai.com/auth": z
    .looseObject({ chatgpt_account_id: z.string().optional(), chatgpt_plan_type: z.string().optional() })
    .optional(),
});
export type TokenClaims = z.infer<typeof TokenClaims>;
