/** `whole`: everything stays in history. `compacted`: the model forgets in time, as it must. */
export type Kind = "compacted" | "whole";

export const conversationId = "conv_01a1e1d9-0000-7000-8000-000000000001";
