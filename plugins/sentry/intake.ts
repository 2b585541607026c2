import { isUtf8 } from 'node:buffer';
import { inject, injectable, PORT, token, type Ids } from '../../kernel/contract.js';
import { denied, notFound, ServiceError } from '../../kernel/errors.js';
import { ERROR_INTAKE, type ErrorIntake, type ErrorSender } from '../../ports/domain/errors.js';
import type { FrameRewriter } from '../../ports/domain/frames.js';
import { PROJECTS, type ProjectDirectory } from '../../ports/domain/projects.js';
import type { TokenPrincipal } from '../../ports/http.js';
import { isCheckIn } from './check-in.js';
import { CheckIns } from './check-ins.js';
import type { Envelope, EnvelopeItem } from './envelope.js';
import { eventIdOf, reportOf, type AboutEvent } from './event.js';
import { feedbackOf, isFeedback } from './feedback.js';
import { MAX_JSON_VALUES, readJson } from '../../lib/json/event-json.js';
import { scriptFramesOf, statesDebugIds, type AppliedFrames } from './scripts.js';
import { isSession, weightOfSessions } from './session.js';
import type { AboutSessions } from './session.js';
import { categoryOf } from './skipped.js';
import { SessionCounting } from './session-counting.js';
import { instant } from './time.js';
import { record, type Loose } from './values.js';

export interface SentryCaller {
  principal: TokenPrincipal;
  address: string;
}

export interface EnvelopeResult {
  id: string | null;
  warnings: string[];
}

const MOST_WARNINGS = 10;
const REPLACED = 'It was not valid UTF-8: what could not be read was replaced by U+FFFD.';

/** Rewriter of minified frames; undefined if no plugin provides one. */
export const FIND_FRAMES = token<() => FrameRewriter | undefined>('sentry.frames');

@injectable()
export class SentryIntake {
  constructor(
    @inject(ERROR_INTAKE) private readonly errors: ErrorIntake,
    @inject(PROJECTS) private readonly projects: ProjectDirectory,
    @inject(CheckIns) private readonly checkIns: CheckIns,
    @inject(SessionCounting) private readonly sessions: SessionCounting,
    @inject(FIND_FRAMES) private readonly frames: () => FrameRewriter | undefined,
    @inject(PORT.ids) private readonly ids: Pick<Ids, 'uuid'>,
  ) {}

  takes(type: string): boolean {
    return (
      type === 'event' ||
      isFeedback(type) ||
      (isCheckIn(type) && this.checkIns.taken) ||
      (isSession(type) && this.sessions.taken)
    );
  }

  refused(): void {
    this.errors.refused('sdk');
  }

  /**
   * Records events in order, then feedback, check-ins and sessions, and skips other items. Resolves
   * after the commit. The first failed event is thrown after all others were recorded; ids keep a
   * repeat from counting twice.
   * @param limited categories whose items are dropped
   * @throws ServiceError not_found, insufficient_scope (the number is not of the key's project),
   *   invalid_json
   */
  async envelope(
    number: number,
    envelope: Envelope,
    caller: SentryCaller,
    limited: ReadonlyMap<string, number> = new Map(),
  ): Promise<EnvelopeResult> {
    const { header, fault } = envelope;
    const project = await this.#project(number, caller.principal);
    const taken = envelope.items.filter(({ type, skipped }) => skipped === undefined && this.takes(type));
    if (fault !== undefined && taken.length === 0) throw new ServiceError('invalid_json', fault);
    const warnings = warningsOf(envelope, taken, (type) => this.takes(type));
    const items = taken.filter(({ type }) => !limited.has(categoryOf(type) ?? ''));
    const sent_at = instant(header['sent_at']);
    let id = eventIdOf(header['event_id']);
    const failures: unknown[] = [];
    const others: unknown[] = [];
    let first = true;
    for (const { type, payload } of items) {
      if (type !== 'event') continue;
      try {
        const event = await eventOf(payload);
        // The header's id belongs to the single event of the envelope.
        const own = eventIdOf(event['event_id']) ?? (first ? id : null) ?? this.#newId();
        if (first) id = own;
        first = false;
        await this.#record(event, { project, id: own, address: caller.address, sent_at }, caller);
      } catch (error) {
        failures.push(error);
      }
    }
    // After the events, which the feedback may be about.
    for (const { type, payload } of items.filter((item) => isFeedback(item.type))) {
      try {
        const given = feedbackOf(type, await eventOf(payload), project, () => this.#newId());
        if (given === null) continue;
        await this.errors.feedback(given, senderOf(caller));
        id ??= given.id;
      } catch (error) {
        others.push(error);
      }
    }
    for (const { type, payload } of items) {
      if (!isCheckIn(type)) continue;
      try {
        await this.checkIns.take(await eventOf(payload), project, caller.principal);
      } catch (error) {
        others.push(error);
      }
    }
    const { sessions } = boundedSessions(items);
    if (sessions.length > 0) others.push(...(await this.#countSessions(sessions, { project, sent_at }, caller)));
    const hasEvent = items.some(({ type }) => type === 'event');
    for (const error of others) {
      if (hasEvent && error instanceof ServiceError && error.code === 'invalid_json')
        warnings.push(`An item was skipped: ${error.message}`);
      else failures.push(error);
    }
    if (failures.length > 0) throw failures[0];
    return { id, warnings };
  }

  /**
   * Counts all sessions of the envelope together, in few writes.
   * @returns the errors
   */
  async #countSessions(sessions: Envelope['items'], about: AboutSessions, caller: SentryCaller): Promise<unknown[]> {
    const { address, intake = false } = senderOf(caller);
    const done = await Promise.allSettled(
      sessions.map(async ({ type, payload }) =>
        this.sessions.take(type, await eventOf(payload), about, { address, intake }),
      ),
    );
    return done.flatMap((one): unknown[] => (one.status === 'rejected' ? [one.reason] : []));
  }

  /**
   * Records a bare event, or the feedback in it. Transactions, which some SDKs send here, are
   * skipped.
   */
  async event(number: number, bytes: Buffer, caller: SentryCaller): Promise<EnvelopeResult & { id: string }> {
    const project = await this.#project(number, caller.principal);
    const event = await eventOf(bytes);
    const id = eventIdOf(event['event_id']) ?? this.#newId();
    if (event['type'] === 'feedback') {
      const given = feedbackOf('feedback', event, project, () => id);
      if (given !== null) await this.errors.feedback(given, senderOf(caller));
    } else if (event['type'] !== 'transaction') {
      await this.#record(event, { project, id, address: caller.address }, caller);
    }
    return { id, warnings: isUtf8(bytes) ? [] : [REPLACED] };
  }

  /**
   * Returns the project's slug. A key may only use the number of its own project; a token for all
   * projects may use any.
   */
  async #project(number: number, { project }: TokenPrincipal): Promise<string> {
    // A key names its project, so no lookup by number is needed.
    const found = project === null ? await this.projects.byNumber(number) : await this.projects.get(project);
    if (found === null) throw notFound(`project ${number}`);
    if (found.number !== number) throw denied('This key belongs to another project than the number in the path.');
    return found.slug;
  }

  async #record(event: Loose, about: AboutEvent, caller: SentryCaller): Promise<void> {
    const rewriting = this.#rewritten(event, about.project);
    const applied = rewriting === null ? null : await rewriting;
    const { report, details } = reportOf(event, applied === null ? about : { ...about, ...applied });
    await this.errors.record(report, senderOf(caller), details);
  }

  /**
   * Rewrites the event's frames with source maps.
   * @returns what the maps lack; null (synchronously) when the event stays unchanged
   */
  #rewritten(event: Loose, project: string): Promise<AppliedFrames> | null {
    const rewriter = this.frames();
    // Most events have no debug ids and most projects no maps: then frames are not collected.
    if (rewriter === undefined || (!statesDebugIds(event) && rewriter.hasNone(project))) return null;
    const scripts = scriptFramesOf(event, project);
    const asked = scripts === null ? null : rewriter.rewrite(scripts.question);
    return scripts === null || asked === null ? null : asked.then((found) => scripts.apply(found));
  }

  #newId(): string {
    return this.ids.uuid().replaceAll('-', '');
  }
}

function warningsOf(
  { items, fault }: Envelope,
  taken: readonly EnvelopeItem[],
  takes: (type: string) => boolean,
): string[] {
  const left = items.flatMap(({ type, skipped }) => {
    if (skipped === undefined) return [];
    const size = skipped === true ? '' : ` of ${skipped} bytes`;
    return `An item ${JSON.stringify(type.slice(0, 40))}${size} was skipped: ${takes(type) ? 'it is too large' : 'its kind is not stored'}.`;
  });
  const warnings = left.slice(0, MOST_WARNINGS);
  if (fault !== undefined) warnings.push(`${fault} It was skipped, and what stands behind it.`);
  if (taken.some(({ payload }) => !isUtf8(payload))) warnings.push(REPLACED);
  return warnings;
}

const senderOf = ({ principal: { id, name, token_kind }, address }: SentryCaller): ErrorSender => ({
  id,
  name,
  source: 'sdk',
  address,
  intake: token_kind === 'intake',
});

async function eventOf(bytes: Buffer): Promise<Loose> {
  const event = record(await readJson(bytes));
  if (event !== null) return event;
  throw new ServiceError('invalid_json', `An event is a JSON object of at most ${MAX_JSON_VALUES} values.`);
}

/** Maximum session units per envelope, about a thousand entries; no SDK sends as many. */
const MOST_SESSION_UNITS = 100;

function boundedSessions(items: Envelope['items']): { sessions: Envelope['items']; others: number } {
  const all = items.filter(({ type }) => isSession(type));
  let units = 0;
  // Single session updates are charged individually.
  const sessions = all.filter(({ type, payload }) => {
    if (type === 'session') return true;
    units += weightOfSessions(payload);
    return units <= MOST_SESSION_UNITS;
  });
  return { sessions, others: all.length - sessions.length };
}
