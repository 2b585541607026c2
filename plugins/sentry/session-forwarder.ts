import { inject, injectable, token } from '../../kernel/contract/index.js';
import type { SessionIntake, SessionSender } from '../../ports/domain/release-health.js';
import { parseSessions, type SessionMetadata } from './session.js';
import type { UntypedRecord } from './untyped-values.js';

export const SESSION_INTAKE_RESOLVER = token<() => SessionIntake | undefined>('sentry.sessions');

const SLICE_SIZE = 50;

@injectable()
export class SessionForwarder {
  constructor(@inject(SESSION_INTAKE_RESOLVER) private readonly intake: () => SessionIntake | undefined) {}

  get isAvailable(): boolean {
    return this.intake() !== undefined;
  }

  async forward(type: string, payload: UntypedRecord, about: SessionMetadata, sender: SessionSender): Promise<void> {
    const report = parseSessions(type, payload, about);
    const intake = this.intake();
    if (report === null || intake === undefined) return;
    const { entries } = report;
    if (entries.length <= SLICE_SIZE) return intake.record(report, sender);
    const pendingSlices: Promise<void>[] = [];
    for (let at = 0; at < entries.length; at += SLICE_SIZE) {
      await this.#waitForTurn();
      const slice = intake.record({ ...report, entries: entries.slice(at, at + SLICE_SIZE) }, sender);
      slice.catch(() => undefined);
      pendingSlices.push(slice);
    }
    await Promise.all(pendingSlices);
  }

  #turns: Promise<unknown> = Promise.resolve();

  /** One slice per turn of the event loop across all senders. */
  #waitForTurn(): Promise<unknown> {
    this.#turns = this.#turns.then(() => new Promise((resolve) => setImmediate(resolve)));
    return this.#turns;
  }
}
