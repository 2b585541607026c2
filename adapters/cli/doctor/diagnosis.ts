export interface Finding {
  check: string;
  ok: boolean;
  detail: string;
  mend: string | null;
}

export const getErrorText = (error: unknown): string =>
  (error instanceof Error ? error.message : String(error)).trim().split('\n').join('; ');

export class Diagnosis {
  readonly items: Finding[] = [];
  readonly skipped: string[] = [];

  async check(
    check: string,
    fix: string | ((error: unknown) => Promise<string>),
    look: () => string | Promise<string>,
  ): Promise<boolean> {
    try {
      this.items.push({ check, ok: true, detail: await look(), mend: null });
      return true;
    } catch (error) {
      const what = typeof fix === 'string' ? fix : await fix(error);
      this.items.push({ check, ok: false, detail: getErrorText(error), mend: what });
      return false;
    }
  }
}
