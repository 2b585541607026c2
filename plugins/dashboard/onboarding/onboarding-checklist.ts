import type { Clock, Collection, Doc, Logger } from '../../../kernel/contract/index.js';
import type { OnboardingStep } from '../../../ports/domain/dashboard.js';
import { StoreConflict } from '../../../ports/store/index.js';

export interface DismissalDoc extends Doc {
  at: string;
}

/** A step that an account leaves out. */
export interface SkipDoc extends Doc {
  account: string;
  step: string;
}

export interface CheckedStep {
  step: OnboardingStep;
  done: boolean;
  skipped: boolean;
}

export class OnboardingChecklist {
  readonly #completedIds = new Set<string>();

  constructor(
    private readonly added: () => readonly OnboardingStep[],
    private readonly dismissals: Collection<DismissalDoc>,
    private readonly skips: Collection<SkipDoc>,
    private readonly clock: Clock,
    private readonly log: Logger,
  ) {}

  /** Lists steps in ascending order. A step that cannot be checked counts as not done. */
  async listSteps(account: string): Promise<CheckedStep[]> {
    const skipped = new Set((await this.skips.find({ filter: { account } })).items.map(({ step }) => step));
    const byId = new Map<string, OnboardingStep[]>();
    for (const step of this.added().toSorted((a, b) => a.order - b.order)) {
      byId.set(step.id, [...(byId.get(step.id) ?? []), step]);
    }
    return Promise.all(
      [...byId].map(async ([id, alike]) => {
        const done = await this.#isDone(alike);
        return { step: alike[0] as OnboardingStep, done, skipped: !done && skipped.has(id) };
      }),
    );
  }

  find(id: string): OnboardingStep | null {
    return this.added().find((step) => step.id === id) ?? null;
  }

  async setSkipped(account: string, step: string, isSkipped: boolean): Promise<void> {
    const id = `${account} ${step}`;
    if (isSkipped) await this.skips.change({ id }, { setOnInsert: { account, step } }, { upsert: true });
    else await this.skips.remove({ id });
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
