import { type OfflineOptions, offlineProvider } from "./offline/provider.js";
import type { Provider } from "./provider.js";

/** The providers that every manager has. */
export function builtInProviders(options: OfflineOptions): Provider[] {
  return [offlineProvider(options)];
}
