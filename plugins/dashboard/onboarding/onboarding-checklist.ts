import type { Clock, Collection, Doc, Logger } from '../../../kernel/contract/index.js';
import type { OnboardingStep } from '../../../ports/domain/dashboard.js';
import { StoreConflict } from '../../../ports/store/index.js';

export interface DismissalDoc extends Doc {
  at: string;
}

export interface CheckedStep {
  step: OnboardingStep;
  done: boolean;
}

export class OnboardingChecklist {
  readonly #completedIds = new Set<string>();

  constructor(
    private readonly added: () => readonly OnboardingStep[],
    private readonly dismissals: Collection<DismissalDoc>,
    private readonly clock: Clock,
    private readonly log: Logger,
  ) {}

  /** Lists steps in ascending order. A step that cannot be checked counts as not done. */
  async listSteps(): Promise<CheckedStep[]> {
    const byId = new Map<string, OnboardingStep[]>();
    for (const step of this.added().toSorted((a, b) => a.order - b.order)) {
      byId.set(step.id, [...(byId.get(step.id) ?? []), step]);
    }
    return Promise.all(
      [...byId.values()].map(async (alike) => ({ step: alike[0] as OnboardingStep, done: await this.#isDone(alike) })),
    );
  }

  find(id: string): OnboardingStep | null {
    return this.added().find((step) => step.id === id) ?? null;
  }

  async isDismissed(account: string): Promise<boolean> {
    return (await this.dismissals.get(account)) !== null;
  }

  async dismiss(account: string): Promise<void> {
    try {
      await this.dismissals.insert({ id: account, at: this.clock.iso() });
    } catch (error) {
      // Dismissed in another tab.
      if (!(error instanceof StoreConflict)) throw error;
    }
  }

  async showAgain(account: string): Promise<void> {
    await this.dismissals.remove({ id: account });
  }

  /**
   * Returns what the service lacks for the step; null when nothing is missing or the check failed.
   */
  async findMissingSetup(step: OnboardingStep): Promise<{ text: string; command: string } | null> {
    try {
      return (await step.findMissingSetup?.()) ?? null;
    } catch (err) {
      this.log.warn({ err, step: step.id }, 'what a first step lacks could not be asked for');
      return null;
    }
  }

  async #isDone(alike: readonly OnboardingStep[]): Promise<boolean> {
    for (const step of alike) {
      if (this.#completedIds.has(step.id)) return true;
      try {
        if (!(await step.isDone())) continue;
        this.#completedIds.add(step.id);
        return true;
      } catch (err) {
        this.log.warn({ err, step: step.id }, 'a first step could not be asked for');
      }
    }
    return false;
  }
}
