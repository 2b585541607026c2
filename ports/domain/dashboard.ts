import { extensionPoint } from '../token.js';

/** Values for a step's command. */
export interface StepContext {
  baseUrl: string;
  project: string;
  token: string;
}

/** An onboarding step whose completion the service detects. */
export interface OnboardingStep {
  /** Lower-case letters and hyphens. Steps with one id are complete when any of them is. */
  id: string;
  order: number;
  title: string;
  text: string;
  page: { label: string; href: string } | null;
  /** Called for every dashboard: read one row at most. */
  isDone(): Promise<boolean>;
  command: ((given: StepContext) => string) | null;
  /** Returns missing setup and the command that fixes it, shown instead of the step's command. */
  findMissingSetup?(): Promise<{ text: string; command: string } | null>;
  token: { name: string; scopes: readonly string[] } | null;
}

export const ONBOARDING_STEPS = extensionPoint<OnboardingStep>('dashboard.first_steps');

/** Resolves the project that commands name. */
export interface StepProject {
  /** Returns the wanted project if it accepts reports, otherwise the newest. */
  resolveSlug(wanted: string | null): Promise<string | null>;
}

export const STEP_PROJECT = extensionPoint<StepProject>('dashboard.step_project');
