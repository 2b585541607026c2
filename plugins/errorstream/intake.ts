/**
 * Passes reports to the bug tracker: one, or a list (contract 21, intake).
 *
 * In a list, reports that may belong to one group (same project and class) are recorded one after the other, in order,
 * because the order of arrival decides which group an unknown origin joins. The others run in parallel and share the
 * store's commits. Rejected: all in parallel (the answers would differ from those of single reports), and all in
 * sequence (a hundred commits). At most eight run at a time, and each begins in its own turn of the event loop: cutting
 * and grouping a hundred large reports in one turn would block all other requests.
 */
import { inject, injectable, PORT, type Logger } from '../../kernel/contract.js';
import { denied, ServiceError } from '../../kernel/errors.js';
import { BUGS, type BugsApi } from '../../ports/domain/bugs.js';
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
import { answerOf, publicAnswerOf } from './answer.js';
import { element, type ErrorBody } from './body.js';
import { reportOf } from './report.js';

const SIDE_BY_SIDE = 8;
/** The class of feedback that belongs to no known error. */
const FEEDBACK = 'UserFeedback';

export type IntakeAnswer = ErrorAnswer | PublicAnswer;

/** Who sent a request, and where from. */
export interface TokenCaller {
  principal: TokenPrincipal;
  address: string;
}

export interface Failed {
  error: { code: string; message: string; fields?: Record<string, string> };
}

@injectable()
export class ErrorReportIntake implements ErrorIntake {
  constructor(
    @inject(BUGS) private readonly bugs: BugsApi,
    @inject(PORT.log) private readonly log: Logger,
  ) {}

  /**
   * Records one report; resolves after the commit.
   * @throws ServiceError insufficient_scope (another project than the token's), unknown_project, validation_failed
   */
  async one(body: ErrorBody, { principal, address }: TokenCaller): Promise<IntakeAnswer> {
    if (principal.project !== null && principal.project !== body.project) {
      throw denied('This token belongs to another project.');
    }
    const { id, name, token_kind } = principal;
    return this.record(body, { id, name, source: 'app', address, intake: token_kind === 'intake' });
  }

  /** Adds a comment to the error's item, or else makes a new item (ports/domain/errors.ts). */
  async feedback(given: FeedbackReport, sender: ErrorSender): Promise<void> {
    const { project, id, event_id, message, name, email, url, environment, app_version } = given;
    const text = [[name, email && `<${email}>`].filter(Boolean).join(' '), url, message].filter(Boolean).join('\n');
    const intake_key = sender.intake === true ? sender.id : null;
    if (event_id !== null) {
      const about = { project, event_ref: event_id, client_ref: id, intake_key, text };
      if (await this.bugs.feedback(about)) return;
    }
    const report: ErrorReport = {
      project,
      error_level: 'warning',
      error_message: message,
      exception_class: FEEDBACK,
      environment,
      app_version,
      client_ref: id,
      // When its event comes, this item is led to that one's: no other feedback may be counted in it.
      fingerprint: event_id === null ? null : ['{{ default }}', event_id],
    };
    await this.record(report, sender, () => ({ context: { name, email, url, event_id }, breadcrumbs: null }));
  }

  /** Every intake ends here (ports/domain/errors.ts). */
  async record(body: ErrorBody | ErrorReport, sender: ErrorSender, stated?: () => ErrorDetails): Promise<IntakeAnswer> {
    const { report, details, truncated } = reportOf(body, sender, stated);
    const done = await this.bugs.record(report, { details });
    return sender.intake === true ? publicAnswerOf(done, truncated) : answerOf(done, truncated);
  }

  /**
   * Records the elements one by one. A failed element is answered with its error and does not stop the others.
   * @throws the first fault, when every element met a fault of the service: then nothing was recorded
   */
  async many(elements: readonly unknown[], caller: TokenCaller): Promise<(IntakeAnswer | Failed)[]> {
    const results: (IntakeAnswer | Failed)[] = [];
    const faults: unknown[] = [];
    const lanes = lanesOf(elements);
    const work = async (): Promise<void> => {
      for (let lane = lanes.pop(); lane !== undefined; lane = lanes.pop()) {
        for (const index of lane) {
          await turn();
          results[index] = await this.#element(elements[index], caller, faults);
        }
      }
    };
    await Promise.all(Array.from({ length: Math.min(SIDE_BY_SIDE, lanes.length) }, work));
    if (faults.length === elements.length) throw faults[0];
    return results;
  }

  refused(source: 'app' | 'sdk'): void {
    this.bugs.refused(source);
  }

  async #element(value: unknown, caller: TokenCaller, faults: unknown[]): Promise<IntakeAnswer | Failed> {
    const read = element(value);
    if ('fields' in read) {
      this.refused('app');
      return { error: { code: 'validation_failed', message: 'Some fields are wrong.', fields: read.fields } };
    }
    try {
      return await this.one(read.body, caller);
    } catch (error) {
      if (error instanceof ServiceError) {
        this.refused('app');
        return { error: failureOf(error) };
      }
      faults.push(error);
      this.log.error({ err: error, project: read.body.project }, 'a report of a list was not recorded');
      return { error: { code: 'internal_error', message: 'The service failed; send this report again.' } };
    }
  }
}

const failureOf = ({ code, message, fields }: ServiceError): Failed['error'] => ({
  code,
  message,
  ...(fields && { fields }),
});

/** Lists of indexes: the elements of one list may belong to one group and keep their order. */
function lanesOf(elements: readonly unknown[]): number[][] {
  const lanes = new Map<string, number[]>();
  elements.forEach((value, index) => {
    const { project, exception_class } = (value ?? {}) as Partial<Record<keyof ErrorBody, unknown>>;
    const key = JSON.stringify([project, exception_class]);
    const lane = lanes.get(key);
    if (lane === undefined) lanes.set(key, [index]);
    else lane.push(index);
  });
  // Workers take from the end. The longest list comes first, so that it does not finish alone.
  return [...lanes.values()].toSorted((a, b) => a.length - b.length);
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
