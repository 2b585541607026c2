/** Forwards sessions to the release health plugin if it is enabled. */
import { inject, injectable, token } from '../../kernel/contract.js';
import type { SessionIntake, SessionSender } from '../../ports/domain/release-health.js';
import { sessionsOf, type AboutSessions } from './session.js';
import type { Loose } from './values.js';

export const FIND_SESSIONS = token<() => SessionIntake | undefined>('sentry.sessions');

const SLICE = 50;

@injectable()
export class SessionCounting {
  constructor(@inject(FIND_SESSIONS) private readonly intake: () => SessionIntake | undefined) {}

  get taken(): boolean {
    return this.intake() !== undefined;
  }

  /** Resolves after the commit. */
  async take(type: string, payload: Loose, about: AboutSessions, sender: SessionSender): Promise<void> {
    const report = sessionsOf(type, payload, about);
    const intake = this.intake();
    if (report === null || intake === undefined) return;
    const { entries } = report;
    if (entries.length <= SLICE) return intake.take(report, sender);
    const taken: Promise<void>[] = [];
    for (let at = 0; at < entries.length; at += SLICE) {
      await this.#turn();
      const slice = intake.take({ ...report, entries: entries.slice(at, at + SLICE) }, sender);
      slice.catch(() => undefined);
      taken.push(slice);
    }
    await Promise.all(taken);
  }

  #turns: Promise<unknown> = Promise.resolve();

  /** Allows one slice per turn of the event loop across all senders. */
  #turn(): Promise<unknown> {
    this.#turns = this.#turns.then(() => new Promise((resolve) => setImmediate(resolve)));
    return this.#turns;
  }
}
