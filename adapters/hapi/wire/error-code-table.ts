/** An undeclared code is a bug of its plugin: 500, and a log line with the fix. */
import { CODES, ServiceError } from '../../../kernel/errors.js';
import type { ErrorCodes } from '../../../ports/http/index.js';
import { toFailure, type Failure } from './failure.js';

export class UndeclaredCode extends Error {
  override name = 'UndeclaredCode';
  constructor(plugin: string, { code, status, message }: ServiceError, declared: number | undefined) {
    const fix =
      declared === undefined
        ? `add it to \`errors\` of its manifest: {${code}: [${status}, 'what it means']}`
        : `it is declared with ${declared}`;
    super(`plugin ${plugin} returned the error code "${code}" with status ${status}: ${fix} (${message})`);
  }
}

export class ErrorCodeTable {
  /** @param codes null: any code is accepted */
  constructor(private readonly codes: ErrorCodes | null) {}

  getMeaning(code: string): string {
    const known: ErrorCodes = this.codes ?? CODES;
    return (Object.hasOwn(known, code) ? known[code]?.[2] : undefined) ?? 'The request failed';
  }

  classify(thrown: unknown, plugin: string): { failure: Failure } | { fault: unknown } {
    const failure = toFailure(thrown);
    if (failure === null) return { fault: thrown };
    if (thrown instanceof ServiceError && this.codes !== null) {
      const declared = Object.hasOwn(this.codes, thrown.code) ? this.codes[thrown.code]?.[0] : undefined;
      if (declared !== thrown.status) return { fault: new UndeclaredCode(plugin, thrown, declared) };
    }
    return failure.status === 500 ? { fault: thrown } : { failure };
  }
}
