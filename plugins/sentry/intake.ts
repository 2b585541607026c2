/** Envelopes and stored events on their way to the error stream (contract 21, Sentry SDK intake). */
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

/** Who sent a request, and where from. */
export interface SentryCaller {
  principal: TokenPrincipal;
  address: string;
}

/** What became of an envelope. */
export interface EnvelopeResult {
  /** Of the first event; without events the id in the header, or null. */
  id: string | null;
  /** Sentences about what was left out or replaced. */
  warnings: string[];
}

/** Sentences about items that were skipped. */
const MOST_WARNINGS = 10;
const REPLACED = 'It was not valid UTF-8: what could not be read was replaced by U+FFFD.';

/** Who rewrites the frames of minified scripts; undefined where nobody does. */
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

  /** Whether items of this type are taken; others are skipped. */
  takes(type: string): boolean {
    return (
      type === 'event' ||
      isFeedback(type) ||
      (isCheckIn(type) && this.checkIns.taken) ||
      (isSession(type) && this.sessions.taken)
    );
  }

  /** A call was answered with an error. */
  refused(): void {
    this.errors.refused('sdk');
  }

  /**
   * Records the events of an envelope, in their order, then the feedback of users, the check-ins of jobs and
   * sessions, and skips other items. Resolves after the commit.
   * @param limited categories whose items are left out
   * @throws ServiceError not_found, insufficient_scope (the number is not of the key's project), invalid_json. When
   * events fail, the first failure is thrown after all others have been recorded; their ids keep a repeat from counting
   * twice. Another item that cannot be read costs no event: it is named in `warnings`
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
        // The header's id belongs to the one event that an envelope should hold.
        const own = eventIdOf(event['event_id']) ?? (first ? id : null) ?? this.#newId();
        if (first) id = own;
        first = false;
        await this.#record(event, { project, id: own, address: caller.address, sent_at }, caller);
      } catch (error) {
        failures.push(error);
      }
    }
    // After the events: one of them may be what a user speaks of.
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

  /** Counts all sessions of the envelope at once, which makes them few writes. @returns what failed */
  async #countSessions(sessions: Envelope['items'], about: AboutSessions, caller: SentryCaller): Promise<unknown[]> {
    const { address, intake = false } = senderOf(caller);
    const done = await Promise.allSettled(
      sessions.map(async ({ type, payload }) =>
        this.sessions.take(type, await eventOf(payload), about, { address, intake }),
      ),
    );
    return done.flatMap((one): unknown[] => (one.status === 'rejected' ? [one.reason] : []));
  }

  /** Records one bare event, or the feedback in it. Some SDKs also send transactions here; they are skipped. */
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

  /** The project's slug. A key may use only the number of its own project; a token for all projects may use any. */
  async #project(number: number, { project }: TokenPrincipal): Promise<string> {
    // A key names its project, so no search by number is needed.
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
   * Frames of minified scripts become those of the sources, in the event.
   * @returns what the maps did not say; null, at once: the event stays as it is
   */
  #rewritten(event: Loose, project: string): Promise<AppliedFrames> | null {
    const rewriter = this.frames();
    // Most events have no debug ids, and most projects no maps: then the frames are not even gathered.
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

/** @throws ServiceError invalid_json */
async function eventOf(bytes: Buffer): Promise<Loose> {
  const event = record(await readJson(bytes));
  if (event !== null) return event;
  throw new ServiceError('invalid_json', `An event is a JSON object of at most ${MAX_JSON_VALUES} values.`);
}

/** Units of sessions that one envelope may hold: about a thousand entries. No SDK adds up so many. */
const MOST_SESSION_UNITS = 100;

/** The items of sessions, and how many more the envelope has than are counted. */
function boundedSessions(items: Envelope['items']): { sessions: Envelope['items']; others: number } {
  const all = items.filter(({ type }) => isSession(type));
  let units = 0;
  // Updates of single sessions are charged one by one.
  const sessions = all.filter(({ type, payload }) => {
    if (type === 'session') return true;
    units += weightOfSessions(payload);
    return units <= MOST_SESSION_UNITS;
  });
  return { sessions, others: all.length - sessions.length };
}
