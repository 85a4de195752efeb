/** `whole`: never compacted, so everything stays in history. `compacted`: compacted whenever a window is full. */
export type Kind = "compacted" | "whole";

export const conversationId = "conv_01a1e1d9-0000-7000-8000-000000000001";
