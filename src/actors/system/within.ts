/** Waits for the promise, but no longer than the bound; says whether it was in time. A rejection counts as the end. */
export async function within(promise: Promise<unknown>, boundMs: number): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const bound = new Promise<boolean>((resolve) => {
    timer = setTimeout(resolve, boundMs, false);
  });
  const end = promise.then(
    () => true,
    () => true,
  );
  try {
    return await Promise.race([end, bound]);
  } finally {
    clearTimeout(timer);
  }
}
