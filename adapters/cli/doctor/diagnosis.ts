/** What `aos doctor` has found: each fault by itself, with how to fix it. */

export interface Finding {
  check: string;
  ok: boolean;
  detail: string;
  /** What to do; null when all is well. */
  mend: string | null;
}

export const textOf = (error: unknown): string =>
  (error instanceof Error ? error.message : String(error)).trim().split('\n').join('; ');

/** What has been found, in order, and what could not be looked at because of it. */
export class Diagnosis {
  readonly items: Finding[] = [];
  readonly skipped: string[] = [];

  /**
   * @param mend what to do, or what makes it of the fault
   * @param look answers the detail; what it throws is the fault
   * @returns whether all was well
   */
  async check(
    check: string,
    mend: string | ((error: unknown) => Promise<string>),
    look: () => string | Promise<string>,
  ): Promise<boolean> {
    try {
      this.items.push({ check, ok: true, detail: await look(), mend: null });
      return true;
    } catch (error) {
      const what = typeof mend === 'string' ? mend : await mend(error);
      this.items.push({ check, ok: false, detail: textOf(error), mend: what });
      return false;
    }
  }
}
