/**
 * List elements are read in separate turns, because truncating many large reports would block other
 * requests (contract 21, intake).
 */
import { inject, injectable, PORT, type Clock, type Logger } from '../../kernel/contract/index.js';
import { requireProject, ServiceError } from '../../kernel/errors.js';
import { BUGS, type BugsApi, type BatchReport, type ReportResult } from '../../ports/domain/bugs.js';
import type {
  ErrorAnswer,
  ErrorDetails,
  ErrorIntake,
  ErrorReport,
  ErrorSender,
  FeedbackReport,
  PublicErrorAnswer,
} from '../../ports/domain/errors.js';
import type { TokenPrincipal } from '../../ports/http/index.js';
import { toErrorResponse, toPublicResponse } from './response.js';
import { parseElement, type ErrorBody } from './report-body.js';
import { buildFeedbackReport, formatFeedback } from './feedback.js';
import { MinifiedTraceRewriter } from './minified-traces.js';
import { toErrorReport } from './report-converter.js';
import { yieldToEventLoop } from '../../lib/process/event-loop.js';

const MAX_PART_WEIGHT = 400_000;
/** Too expensive to measure. */
const LARGE_FIELD_WEIGHTS = { context: 8_000, breadcrumbs: 16_000 } as const;

export type IntakeResponse = ErrorAnswer | PublicErrorAnswer;

export interface TokenCaller {
  principal: TokenPrincipal;
  address: string;
}

export interface FailedElement {
  error: { code: string; message: string; fields?: Record<string, string> };
}

interface ValidatedElement extends BatchReport {
  truncated: string[];
  sender: ErrorSender;
}

@injectable()
export class ErrorReportIntake implements ErrorIntake {
  constructor(
    @inject(BUGS) private readonly bugs: BugsApi,
    @inject(MinifiedTraceRewriter) private readonly minified: MinifiedTraceRewriter,
    @inject(PORT.clock) private readonly clock: Clock,
    @inject(PORT.log) private readonly log: Logger,
  ) {}

  /**
   * @throws ServiceError insufficient_scope (another project than the token's), unknown_project,
   *   validation_failed
   */
  async recordOne(body: ErrorBody, caller: TokenCaller): Promise<IntakeResponse> {
    const sender = toErrorSender(body, caller);
    const readable = this.minified.rewrite(body);
    return this.record(readable === null ? body : await readable, sender);
  }

  /** Otherwise creates a bug (ports/domain/errors.ts). */
  async recordFeedback(given: FeedbackReport, sender: ErrorSender): Promise<void> {
    const { project, id, event_id } = given;
    const intake_key = sender.intake === true ? sender.id : null;
    if (event_id !== null) {
      const about = { project, event_ref: event_id, client_ref: id, intake_key, text: formatFeedback(given) };
      if (await this.bugs.addFeedback(about)) return;
    }
    const { report, details } = buildFeedbackReport(given, sender);
    await this.bugs.record(report, { details });
  }

  async record(
    body: ErrorBody | ErrorReport,
    sender: ErrorSender,
    stated?: () => ErrorDetails,
  ): Promise<IntakeResponse> {
    const { report, details, truncated } = toErrorReport(body, sender, this.clock.now(), stated);
    return toIntakeResponse(await this.bugs.record(report, { details }), sender, truncated);
  }

  async recordText(body: ErrorReport, sender: ErrorSender, stated: () => ErrorDetails): Promise<IntakeResponse> {
    const traced: ErrorReport & Pick<ErrorBody, 'context'> = { ...body, context: null };
    const readable = this.minified.rewrite(traced);
    if (readable === null) return this.record(body, sender, stated);
    const read = await readable;
    return this.record(read, sender, () => {
      const details = stated();
      return { ...details, context: { ...details.context, ...read.context } };
    });
  }

  /**
   * A failed element gets its error.
   * @throws the first error, when every element failed with a service fault: nothing was recorded
   */
  async recordMany(elements: readonly unknown[], caller: TokenCaller): Promise<(IntakeResponse | FailedElement)[]> {
    const results: (IntakeResponse | FailedElement)[] = [];
    const faults: unknown[] = [];
    for (const part of splitIntoParts(elements)) results.push(...(await this.#recordPart(part, caller, faults)));
    if (faults.length === elements.length) throw faults[0];
    return results;
  }

  async #recordPart(
    elements: readonly unknown[],
    caller: TokenCaller,
    faults: unknown[],
  ): Promise<(IntakeResponse | FailedElement)[]> {
    const reading: Promise<ValidatedElement | FailedElement>[] = [];
    for (const value of elements) {
      await yieldToEventLoop();
      // Waits for source maps concurrently; errors are thrown below.
      const one = this.#validateElement(value, caller);
      one.catch(() => undefined);
      reading.push(one);
    }
    const read = await Promise.all(reading);
    const reports = read.flatMap((one) => ('report' in one ? [one] : []));
    const done = (await this.bugs.recordAll(reports)).values();
    return read.map((one) => {
      if ('error' in one) return one;
      const { value: result } = done.next() as IteratorYieldResult<PromiseSettledResult<ReportResult>>;
      if (result.status === 'fulfilled') return toIntakeResponse(result.value, one.sender, one.truncated);
      return this.#toFailedElement(result.reason, one.report.project, faults);
    });
  }

  async #validateElement(value: unknown, caller: TokenCaller): Promise<ValidatedElement | FailedElement> {
    const given = parseElement(value);
    if ('fields' in given) {
      this.countRejection('app');
      return { error: { code: 'validation_failed', message: 'Some fields are invalid.', fields: given.fields } };
    }
    try {
      const sender = toErrorSender(given.body, caller);
      const readable = this.minified.rewrite(given.body);
      const body = readable === null ? given.body : await readable;
      return { ...toErrorReport(body, sender, this.clock.now()), sender };
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error;
      return this.#toRejectedElement(error);
    }
  }

  countRejection(source: 'app' | 'sdk'): void {
    this.bugs.countRejection(source);
  }

  #toFailedElement(error: unknown, project: string, faults: unknown[]): FailedElement {
    if (error instanceof ServiceError) return this.#toRejectedElement(error);
    faults.push(error);
    this.log.error({ err: error, project }, 'a report of a list could not be stored');
    return { error: { code: 'internal_error', message: 'Internal error; send this report again.' } };
  }

  #toRejectedElement(error: ServiceError): FailedElement {
    this.countRejection('app');
    return { error: toErrorFields(error) };
  }
}

const toErrorFields = ({ code, message, fields }: ServiceError): FailedElement['error'] => ({
  code,
  message,
  ...(fields && { fields }),
});

function toErrorSender({ project }: ErrorBody, { principal, address }: TokenCaller): ErrorSender {
  requireProject(principal.project, project);
  const { id, name, token_kind } = principal;
  return { id, name, source: 'app', address, intake: token_kind === 'intake' };
}

const toIntakeResponse = (done: ReportResult, { intake }: ErrorSender, truncated: string[]): IntakeResponse =>
  intake === true ? toPublicResponse(done, truncated) : toErrorResponse(done, truncated);

function splitIntoParts(elements: readonly unknown[]): unknown[][] {
  const parts: unknown[][] = [];
  let left = 0;
  for (const value of elements) {
    const weight = 1 + estimateWeight(value);
    if (weight > left) {
      parts.push([]);
      left = MAX_PART_WEIGHT;
    }
    parts.at(-1)?.push(value);
    left -= weight;
  }
  return parts;
}

function estimateWeight(value: unknown): number {
  const { context, breadcrumbs, ...texts } = (value ?? {}) as Partial<Record<keyof ErrorBody, unknown>>;
  const large = (context ? LARGE_FIELD_WEIGHTS.context : 0) + (breadcrumbs ? LARGE_FIELD_WEIGHTS.breadcrumbs : 0);
  return Object.values(texts).reduce<number>((sum, text) => sum + (typeof text === 'string' ? text.length : 0), large);
}
