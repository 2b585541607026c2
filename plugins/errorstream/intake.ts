/**
 * Records single reports and lists (contract 21, intake). List elements are read in separate turns
 * of the event loop, because truncating many large reports would block other requests. Large lists
 * are recorded in parts.
 */
import { inject, injectable, PORT, type Clock, type Logger } from '../../kernel/contract.js';
import { requireProject, ServiceError } from '../../kernel/errors.js';
import { BUGS, type BugsApi, type ListedReport, type Recorded } from '../../ports/domain/bugs.js';
import type {
  ErrorAnswer,
  ErrorDetails,
  ErrorIntake,
  ErrorReport,
  ErrorSender,
  FeedbackReport,
  PublicAnswer,
} from '../../ports/domain/errors.js';
import type { TokenPrincipal } from '../../ports/http.js';
import { toErrorAnswer, toPublicAnswer } from './answer.js';
import { parseElement, type ErrorBody } from './body.js';
import { buildFeedbackReport, formatFeedback } from './feedback.js';
import { MinifiedTraces } from './minified.js';
import { toErrorReport } from './report.js';
import { yieldToEventLoop } from '../../lib/process/event-loop.js';

const PART = 400_000;
/** Assumed sizes of fields that are too expensive to measure. */
const LARGE = { context: 8_000, breadcrumbs: 16_000 } as const;

export type IntakeAnswer = ErrorAnswer | PublicAnswer;

export interface TokenCaller {
  principal: TokenPrincipal;
  address: string;
}

export interface Failed {
  error: { code: string; message: string; fields?: Record<string, string> };
}

interface ReadElement extends ListedReport {
  truncated: string[];
  sender: ErrorSender;
}

@injectable()
export class ErrorReportIntake implements ErrorIntake {
  constructor(
    @inject(BUGS) private readonly bugs: BugsApi,
    @inject(MinifiedTraces) private readonly minified: MinifiedTraces,
    @inject(PORT.clock) private readonly clock: Clock,
    @inject(PORT.log) private readonly log: Logger,
  ) {}

  /**
   * Records one report; resolves after the commit.
   * @throws ServiceError insufficient_scope (another project than the token's), unknown_project,
   *   validation_failed
   */
  async one(body: ErrorBody, caller: TokenCaller): Promise<IntakeAnswer> {
    const sender = senderOf(body, caller);
    const readable = this.minified.readable(body);
    return this.record(readable === null ? body : await readable, sender);
  }

  /** Adds a comment to the error's item, or creates a bug (ports/domain/errors.ts). */
  async feedback(given: FeedbackReport, sender: ErrorSender): Promise<void> {
    const { project, id, event_id } = given;
    const intake_key = sender.intake === true ? sender.id : null;
    if (event_id !== null) {
      const about = { project, event_ref: event_id, client_ref: id, intake_key, text: formatFeedback(given) };
      if (await this.bugs.feedback(about)) return;
    }
    const { report, details } = buildFeedbackReport(given, sender);
    await this.bugs.record(report, { details });
  }

  /** Common end of all intakes (ports/domain/errors.ts). */
  async record(body: ErrorBody | ErrorReport, sender: ErrorSender, stated?: () => ErrorDetails): Promise<IntakeAnswer> {
    const { report, details, truncated } = toErrorReport(body, sender, this.clock.now(), stated);
    return shown(await this.bugs.record(report, { details }), sender, truncated);
  }

  async recordText(body: ErrorReport, sender: ErrorSender, stated: () => ErrorDetails): Promise<IntakeAnswer> {
    const traced: ErrorReport & Pick<ErrorBody, 'context'> = { ...body, context: null };
    const readable = this.minified.readable(traced);
    if (readable === null) return this.record(body, sender, stated);
    const read = await readable;
    return this.record(read, sender, () => {
      const details = stated();
      return { ...details, context: { ...details.context, ...read.context } };
    });
  }

  /**
   * Records a list. A failed element gets its error and does not stop the others.
   * @throws the first error, when every element failed with a service fault: then nothing was
   *   recorded
   */
  async many(elements: readonly unknown[], caller: TokenCaller): Promise<(IntakeAnswer | Failed)[]> {
    const results: (IntakeAnswer | Failed)[] = [];
    const faults: unknown[] = [];
    for (const part of partsOf(elements)) results.push(...(await this.#part(part, caller, faults)));
    if (faults.length === elements.length) throw faults[0];
    return results;
  }

  async #part(
    elements: readonly unknown[],
    caller: TokenCaller,
    faults: unknown[],
  ): Promise<(IntakeAnswer | Failed)[]> {
    const reading: Promise<ReadElement | Failed>[] = [];
    for (const value of elements) {
      await yieldToEventLoop();
      // Elements that wait for source maps run concurrently. Errors are thrown below.
      const one = this.#read(value, caller);
      one.catch(() => undefined);
      reading.push(one);
    }
    const read = await Promise.all(reading);
    const reports = read.flatMap((one) => ('report' in one ? [one] : []));
    const done = (await this.bugs.recordAll(reports)).values();
    return read.map((one) => {
      if ('error' in one) return one;
      const { value: result } = done.next() as IteratorYieldResult<PromiseSettledResult<Recorded>>;
      if (result.status === 'fulfilled') return shown(result.value, one.sender, one.truncated);
      return this.#failed(result.reason, one.report.project, faults);
    });
  }

  async #read(value: unknown, caller: TokenCaller): Promise<ReadElement | Failed> {
    const given = parseElement(value);
    if ('fields' in given) {
      this.refused('app');
      return { error: { code: 'validation_failed', message: 'Some fields are wrong.', fields: given.fields } };
    }
    try {
      const sender = senderOf(given.body, caller);
      const readable = this.minified.readable(given.body);
      const body = readable === null ? given.body : await readable;
      return { ...toErrorReport(body, sender, this.clock.now()), sender };
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error;
      return this.#refusal(error);
    }
  }

  refused(source: 'app' | 'sdk'): void {
    this.bugs.refused(source);
  }

  #failed(error: unknown, project: string, faults: unknown[]): Failed {
    if (error instanceof ServiceError) return this.#refusal(error);
    faults.push(error);
    this.log.error({ err: error, project }, 'a report of a list was not recorded');
    return { error: { code: 'internal_error', message: 'The service failed; send this report again.' } };
  }

  #refusal(error: ServiceError): Failed {
    this.refused('app');
    return { error: failureOf(error) };
  }
}

const failureOf = ({ code, message, fields }: ServiceError): Failed['error'] => ({
  code,
  message,
  ...(fields && { fields }),
});

function senderOf({ project }: ErrorBody, { principal, address }: TokenCaller): ErrorSender {
  requireProject(principal.project, project);
  const { id, name, token_kind } = principal;
  return { id, name, source: 'app', address, intake: token_kind === 'intake' };
}

const shown = (done: Recorded, { intake }: ErrorSender, truncated: string[]): IntakeAnswer =>
  intake === true ? toPublicAnswer(done, truncated) : toErrorAnswer(done, truncated);

function partsOf(elements: readonly unknown[]): unknown[][] {
  const parts: unknown[][] = [];
  let left = 0;
  for (const value of elements) {
    const weight = 1 + weightOf(value);
    if (weight > left) {
      parts.push([]);
      left = PART;
    }
    parts.at(-1)?.push(value);
    left -= weight;
  }
  return parts;
}

function weightOf(value: unknown): number {
  const { context, breadcrumbs, ...texts } = (value ?? {}) as Partial<Record<keyof ErrorBody, unknown>>;
  const large = (context ? LARGE.context : 0) + (breadcrumbs ? LARGE.breadcrumbs : 0);
  return Object.values(texts).reduce<number>((sum, text) => sum + (typeof text === 'string' ? text.length : 0), large);
}
