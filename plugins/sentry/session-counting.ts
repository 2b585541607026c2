/** Sessions on their way to whoever counts them, where somebody does: a plugin may be switched off. */
import { inject, injectable, token } from '../../kernel/contract.js';
import type { SessionIntake, SessionSender } from '../../ports/domain/release-health.js';
import { sessionsOf, type AboutSessions } from './session.js';
import type { Loose } from './values.js';

export const FIND_SESSIONS = token<() => SessionIntake | undefined>('sentry.sessions');

@injectable()
export class SessionCounting {
  constructor(@inject(FIND_SESSIONS) private readonly intake: () => SessionIntake | undefined) {}

  /** Whether somebody takes them. */
  get taken(): boolean {
    return this.intake() !== undefined;
  }

  /** Resolves after the commit. */
  async take(type: string, payload: Loose, about: AboutSessions, sender: SessionSender): Promise<void> {
    const report = sessionsOf(type, payload, about);
    if (report !== null) await this.intake()?.take(report, sender);
  }
}
