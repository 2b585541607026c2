import { getShortClassName } from '../../../lib/text/error-title.js';
import { getMaskedMessage, getOrigin, type GroupingInput } from '../grouping/grouping-key.js';
import type { MaskOptions } from '../grouping/message-mask.js';

export const MAX_SEARCHED_LENGTH = 2_048;

export class RuleSubject {
  readonly exception_class: string;
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

  get classes(): readonly string[] {
    return (this.#classes ??=
      this.exception_class === '' ? [] : [this.exception_class, getShortClassName(this.exception_class)]);
  }

  get origin(): string {
    return (this.#origin ??= getOrigin(this.report));
  }

  get masked(): string {
    return (this.#masked ??= getMaskedMessage(this.report, this.masks));
  }
}
