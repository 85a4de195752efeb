/** Does the same work for each input, a few at a time, and gives the outcomes in the order of the inputs. */
export async function* inOrder<Input, Output>(
  inputs: Iterable<Input>,
  atOnce: number,
  work: (input: Input) => Promise<Output>,
): AsyncGenerator<Output> {
  const running: Promise<Output>[] = [];
  for (const input of inputs) {
    const outcome = work(input);
    // Whoever waits for it hears of a failure; nobody may be waiting any more.
    outcome.catch(() => undefined);
    running.push(outcome);
    if (running.length < atOnce) continue;
    const [first] = running.splice(0, 1);
    if (first !== undefined) yield await first;
  }
  for (const outcome of running) yield await outcome;
}
