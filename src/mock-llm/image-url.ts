import * as z from "zod";

/** What OpenAI's APIs take as an image: an address, or a picture of a kind they know. */
export const imageUrl = z.string().regex(/^(?:https?:\/\/\S|data:image\/(?:png|jpeg|gif|webp);base64,[A-Za-z0-9+/])/);
