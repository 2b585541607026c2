import { isUtf8 } from 'node:buffer';
import { inject, injectable, PORT, token, type Ids } from '../../kernel/contract/index.js';
import { denied, notFound, ServiceError } from '../../kernel/errors.js';
import { ERROR_INTAKE, type ErrorIntake, type ErrorSender } from '../../ports/domain/errors.js';
import type { FrameRewriter } from '../../ports/domain/frame-rewriting.js';
import { PROJECTS, type ProjectDirectory } from '../../ports/domain/projects.js';
import type { TokenPrincipal } from '../../ports/http/index.js';
import { isCheckIn } from './check-in.js';
import { CheckInForwarder } from './check-in-forwarder.js';
import type { Envelope, EnvelopeItem } from './envelope.js';
import { parseEventId, convertEvent, type EventMetadata } from './event-converter.js';
import { parseFeedback, isFeedback } from './feedback.js';
import { MAX_JSON_VALUES, parseEventJson } from '../../lib/json/event-json.js';
import { findScriptFrames, hasDebugIds, type AppliedFrames } from './script-frames.js';
import { isSession, estimateSessionUnits } from './session.js';
import type { SessionMetadata } from './session.js';
import { getSdkCategory } from './sdk-rate-limits.js';
import { SessionForwarder } from './session-forwarder.js';
import { parseInstant } from './event-time.js';
import { toRecord, type UntypedRecord } from './untyped-values.js';

export interface SentryCaller {
  principal: TokenPrincipal;
  address: string;
}

export interface EnvelopeResult {
  id: string | null;
  warnings: string[];
}

const MAX_WARNINGS = 10;
const INVALID_UTF8_WARNING = 'It was not valid UTF-8: invalid bytes were replaced with U+FFFD.';

/** Undefined if no plugin provides one. */
export const FRAME_REWRITER_RESOLVER = token<() => FrameRewriter | undefined>('sentry.frames');

@injectable()
export class SentryIntake {
  constructor(
    @inject(ERROR_INTAKE) private readonly errors: ErrorIntake,
    @inject(PROJECTS) private readonly projects: ProjectDirectory,
    @inject(CheckInForwarder) private readonly checkIns: CheckInForwarder,
    @inject(SessionForwarder) private readonly sessions: SessionForwarder,
    @inject(FRAME_REWRITER_RESOLVER) private readonly frames: () => FrameRewriter | undefined,
    @inject(PORT.ids) private readonly ids: Pick<Ids, 'uuid'>,
  ) {}

  accepts(type: string): boolean {
    return (
      type === 'event' ||
      isFeedback(type) ||
      (isCheckIn(type) && this.checkIns.isAvailable) ||
      (isSession(type) && this.sessions.isAvailable)
    );
  }

  countRejection(): void {
    this.errors.countRejection('sdk');
  }

  /**
   * Records events, then feedback, check-ins and sessions; resolves after the commit. The first
   * failed event is thrown after all others were recorded; ids keep a repeat from counting twice.
   * @param limited categories whose items are dropped
   * @throws ServiceError not_found, insufficient_scope (the number is not of the key's project),
   *   invalid_json
   */
  async recordEnvelope(
    number: number,
    envelope: Envelope,
    caller: SentryCaller,
    limited: ReadonlyMap<string, number> = new Map(),
  ): Promise<EnvelopeResult> {
    const { header, fault } = envelope;
    const project = await this.#resolveProject(number, caller.principal);
    const acceptedItems = envelope.items.filter(({ type, skipped }) => skipped === undefined && this.accepts(type));
    if (fault !== undefined && acceptedItems.length === 0) throw new ServiceError('invalid_json', fault);
    const warnings = buildWarnings(envelope, acceptedItems, (type) => this.accepts(type));
    const items = acceptedItems.filter(({ type }) => !limited.has(getSdkCategory(type) ?? ''));
    const sent_at = parseInstant(header['sent_at']);
    let id = parseEventId(header['event_id']);
    const failures: unknown[] = [];
    const others: unknown[] = [];
    let first = true;
    for (const { type, payload } of items) {
      if (type !== 'event') continue;
      try {
        const event = await parseEvent(payload);
        // The header's id belongs to the only event.
        const own = parseEventId(event['event_id']) ?? (first ? id : null) ?? this.#createId();
        if (first) id = own;
        first = false;
        await this.#record(event, { project, id: own, address: caller.address, sent_at }, caller);
      } catch (error) {
        failures.push(error);
      }
    }
    // The feedback may be about the events.
    for (const { type, payload } of items.filter((item) => isFeedback(item.type))) {
      try {
        const given = parseFeedback(type, await parseEvent(payload), project, () => this.#createId());
        if (given === null) continue;
        await this.errors.recordFeedback(given, toErrorSender(caller));
        id ??= given.id;
      } catch (error) {
        others.push(error);
      }
    }
    for (const { type, payload } of items) {
      if (!isCheckIn(type)) continue;
      try {
        await this.checkIns.forward(await parseEvent(payload), project, caller.principal);
      } catch (error) {
        others.push(error);
      }
    }
    const { sessions } = limitSessions(items);
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
   * All together, in few writes.
   * @returns the errors
   */
  async #countSessions(sessions: Envelope['items'], about: SessionMetadata, caller: SentryCaller): Promise<unknown[]> {
    const { address, intake = false } = toErrorSender(caller);
    const done = await Promise.allSettled(
      sessions.map(async ({ type, payload }) =>
        this.sessions.forward(type, await parseEvent(payload), about, { address, intake }),
      ),
    );
    return done.flatMap((one): unknown[] => (one.status === 'rejected' ? [one.reason] : []));
  }

  /** Accepts feedback too; transactions, which some SDKs send here, are skipped. */
  async recordEvent(number: number, bytes: Buffer, caller: SentryCaller): Promise<EnvelopeResult & { id: string }> {
    const project = await this.#resolveProject(number, caller.principal);
    const event = await parseEvent(bytes);
    const id = parseEventId(event['event_id']) ?? this.#createId();
    if (event['type'] === 'feedback') {
      const given = parseFeedback('feedback', event, project, () => id);
      if (given !== null) await this.errors.recordFeedback(given, toErrorSender(caller));
    } else if (event['type'] !== 'transaction') {
      await this.#record(event, { project, id, address: caller.address }, caller);
    }
    return { id, warnings: isUtf8(bytes) ? [] : [INVALID_UTF8_WARNING] };
  }

  /** A key may only use the number of its own project; a token for all projects may use any. */
  async #resolveProject(number: number, { project }: TokenPrincipal): Promise<string> {
    // A key names its project.
    const found = project === null ? await this.projects.findByNumber(number) : await this.projects.get(project);
    if (found === null) throw notFound(`project ${number}`);
    if (found.number !== number) throw denied('The key and the number in the path belong to different projects.');
    return found.slug;
  }

  async #record(event: UntypedRecord, about: EventMetadata, caller: SentryCaller): Promise<void> {
    const rewriting = this.#rewriteFrames(event, about.project);
    const applied = rewriting === null ? null : await rewriting;
    const { report, details } = convertEvent(event, applied === null ? about : { ...about, ...applied });
    await this.errors.record(report, toErrorSender(caller), details);
  }

  /** Returns what the maps lack; null (synchronously) when unchanged. */
  #rewriteFrames(event: UntypedRecord, project: string): Promise<AppliedFrames> | null {
    const rewriter = this.frames();
    // Most events have no debug ids and most projects no maps.
    if (rewriter === undefined || (!hasDebugIds(event) && rewriter.hasNoMaps(project))) return null;
    const scripts = findScriptFrames(event, project);
    const pendingRewrite = scripts === null ? null : rewriter.rewrite(scripts.question);
    return scripts === null || pendingRewrite === null ? null : pendingRewrite.then((found) => scripts.apply(found));
  }

  #createId(): string {
    return this.ids.uuid().replaceAll('-', '');
  }
}

function buildWarnings(
  { items, fault }: Envelope,
  acceptedItems: readonly EnvelopeItem[],
  takes: (type: string) => boolean,
): string[] {
  const left = items.flatMap(({ type, skipped }) => {
    if (skipped === undefined) return [];
    const size = skipped === true ? '' : ` of ${skipped} bytes`;
    return `An item ${JSON.stringify(type.slice(0, 40))}${size} was skipped: ${takes(type) ? 'it is too large' : 'its kind is not stored'}.`;
  });
  const warnings = left.slice(0, MAX_WARNINGS);
  if (fault !== undefined) warnings.push(`${fault} It and everything after it was skipped.`);
  if (acceptedItems.some(({ payload }) => !isUtf8(payload))) warnings.push(INVALID_UTF8_WARNING);
  return warnings;
}

const toErrorSender = ({ principal: { id, name, token_kind }, address }: SentryCaller): ErrorSender => ({
  id,
  name,
  source: 'sdk',
  address,
  intake: token_kind === 'intake',
});

async function parseEvent(bytes: Buffer): Promise<UntypedRecord> {
  const event = toRecord(await parseEventJson(bytes));
  if (event !== null) return event;
  throw new ServiceError('invalid_json', `An event must be a JSON object of at most ${MAX_JSON_VALUES} values.`);
}

/** About a thousand entries; no SDK sends as many. */
const MAX_SESSION_UNITS = 100;

function limitSessions(items: Envelope['items']): { sessions: Envelope['items']; others: number } {
  const all = items.filter(({ type }) => isSession(type));
  let units = 0;
  // Single session updates are charged individually.
  const sessions = all.filter(({ type, payload }) => {
    if (type === 'session') return true;
    units += estimateSessionUnits(payload);
    return units <= MAX_SESSION_UNITS;
  });
  return { sessions, others: all.length - sessions.length };
}
