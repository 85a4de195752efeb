import * as z from "zod";

/** The images that OpenAI's APIs accept: a URL, or inline data of a known type. */
export const imageUrl = z.string().regex(/^(?:https?:\/\/\S|data:image\/(?:png|jpeg|gif|webp);base64,[A-Za-z0-9+/])/);
