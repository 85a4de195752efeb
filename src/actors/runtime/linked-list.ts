/** A list member that knows its neighbours, so that it can be removed in constant time. */
export interface Linked<T> {
  previous: T | undefined;
  next: T | undefined;
}

/** A queue without allocations; a member can be in only one list at a time. */
export class LinkedList<T extends Linked<T>> {
  #first: T | undefined;
  #last: T | undefined;

  get isEmpty(): boolean {
    return this.#first === undefined;
  }

  push(member: T): void {
    member.previous = this.#last;
    if (this.#last === undefined) this.#first = member;
    else this.#last.next = member;
    this.#last = member;
  }

  shift(): T | undefined {
    const first = this.#first;
    if (first !== undefined) this.remove(first);
    return first;
  }

  /** The member must be in this list. */
  remove(member: T): void {
    const { previous, next } = member;
    if (previous === undefined) this.#first = next;
    else previous.next = next;
    if (next === undefined) this.#last = previous;
    else next.previous = previous;
    member.previous = undefined;
    member.next = undefined;
  }
}
