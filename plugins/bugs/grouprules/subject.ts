/** A report as grouping rules see it; each value is computed once, and only where a rule asks for it. Pure. */
import { getShortClassName } from '../../../lib/text/error-title.js';
import { getMaskedMessage, getOrigin, type GroupingInput } from '../grouping/key.js';
import type { MaskOptions } from '../grouping/mask.js';

/** Characters of a message that are searched: as many as grouping reads. */
export const MAX_SEARCHED_LENGTH = 2_048;

export class RuleSubject {
  readonly exception_class: string;
  /** The beginning of the message; without one, of the title. */
  readonly message: string;
  #folded: string | null = null;
  #classes: readonly string[] | null = null;
  #origin: string | null = null;
  #masked: string | null = null;

  constructor(
    private readonly report: GroupingInput,
    private readonly masks: Partial<MaskOptions>,
  ) {
    this.exception_class = report.exception_class?.trim() ?? '';
    this.message = (report.error_message || report.title || '').slice(0, MAX_SEARCHED_LENGTH);
  }

  get folded(): string {
    return (this.#folded ??= this.message.toLowerCase());
  }

  /** The class as reported, and its last segment; none where no class is named. */
  get classes(): readonly string[] {
    return (this.#classes ??=
      this.exception_class === '' ? [] : [this.exception_class, getShortClassName(this.exception_class)]);
  }

  /** As the grouping key has it; empty where the report names none. */
  get origin(): string {
    return (this.#origin ??= getOrigin(this.report));
  }

  /** The message without what differs from report to report. */
  get masked(): string {
    return (this.#masked ??= getMaskedMessage(this.report, this.masks));
  }
}
