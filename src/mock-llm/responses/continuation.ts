import type { JsonObject } from "../json.js";
import type { Continuation } from "../memory.js";

/** A response that was stored is gone on from with `previous_response_id`; instructions and tools are said anew. */
export const continuation: Continuation = {
  anchorIn: ({ previous_response_id: id }) => (typeof id === "string" ? id : undefined),
  lost: (id) => ({
    status: 400,
    message: `Previous response with id '${id}' not found.`,
    param: "previous_response_id",
    code: "previous_response_not_found",
  }),
  joined: (kept, body) => ({ ...body, input: [...itemsIn(kept), ...itemsIn(body)] }),
  isKept: ({ store }) => store !== false,
  answered: (whole, content) => ({ input: [...itemsIn(whole), ...content] }),
};

function itemsIn({ input }: JsonObject): unknown[] {
  if (typeof input === "string") return [{ role: "user", content: input }];
  return Array.isArray(input) ? input : [];
}
