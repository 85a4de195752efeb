const expressionPattern =
  /(?:^|\b(?:what(?:['’]?s| is)|how much is|calculate|compute|solve)\s+)([-(\d.][-\d\s.+*/%()×÷]*)=?\s*[?!]*$/i;
const levels = ["+-", "*/%"];

/**
 * The arithmetic expression that a sentence asks for. It must contain an operator, because a number alone is not a
 * question.
 */
export function expressionIn(sentence: string): string | undefined {
  const expression = expressionPattern.exec(sentence)?.[1]?.replace(/[\s.]+$/, "");
  return expression !== undefined && /[\d)]\s*[-+*/%×÷]/.test(expression) ? expression : undefined;
}

/** Returns the answer as a sentence; undefined if the expression is malformed. */
export function calculate(expression: string): string | undefined {
  const tokens =
    expression
      .replaceAll("×", "*")
      .replaceAll("÷", "/")
      .match(/\d+(?:\.\d+)?|\S/g) ?? [];
  let zeroDivisor = false;

  const take = (options: string) => (options.includes(tokens[0] ?? "end") ? tokens.shift() : undefined);
  const chain = (level: number): number => {
    const operators = levels[level];
    if (operators === undefined) return operand();
    let value = chain(level + 1);
    for (let operator = take(operators); operator !== undefined; operator = take(operators)) {
      value = apply(operator, value, chain(level + 1));
    }
    return value;
  };
  const operand = (): number => {
    if (take("-") !== undefined) return -operand();
    if (take("(") === undefined) return Number(tokens.shift() ?? Number.NaN);
    const value = chain(0);
    return take(")") === undefined ? Number.NaN : value;
  };
  const apply = (operator: string, left: number, right: number): number => {
    zeroDivisor ||= right === 0 && "/%".includes(operator);
    if (operator === "*") return left * right;
    if (operator === "/") return left / right;
    if (operator === "%") return left % right;
    return operator === "+" ? left + right : left - right;
  };

  const value = chain(0);
  if (tokens.length > 0) return undefined;
  if (zeroDivisor) return `${expression} has no answer: nothing can be divided by zero.`;
  // Twelve digits hide binary rounding errors, as in 0.1 + 0.2.
  return Number.isFinite(value) ? `${expression} = ${Number(value.toPrecision(12))}` : undefined;
}
