const schemes = new Set(["http:", "https:", "mailto:"]);
const rasterImage = /^data:image\/(?:png|jpeg|gif|webp);base64,[A-Za-z0-9+/]+={0,2}$/;

/** An address that may be followed: it is complete, and nothing runs when somebody does. */
export function safeLink(href: string): string | undefined {
  if (!URL.canParse(href)) return undefined;
  const url = new URL(href);
  return schemes.has(url.protocol) ? url.href : undefined;
}

/** An image that is all there, of a kind that can hold nothing but a picture. */
export function isInlineImage(url: string): boolean {
  return rasterImage.test(url);
}
