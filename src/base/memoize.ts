/** Caches the result of `make` for the lifetime of the key object. The key must not change. */
export function memoizeByObject<K extends object, V>(make: (key: K) => V): (key: K) => V {
  const cache = new WeakMap<K, { readonly value: V }>();
  return (key) => {
    const known = cache.get(key);
    if (known !== undefined) return known.value;
    const value = make(key);
    cache.set(key, { value });
    return value;
  };
}
