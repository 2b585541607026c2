import type { Principal } from '../http/index.js';
import { extensionPoint } from '../token.js';

/** Values for a step's command. */
export interface StepContext {
  baseUrl: string;
  project: string;
  token: string;
}

/** What a step was waiting for. */
export interface StepResult {
  label: string;
  href: string;
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
  /** The token is named `Get started: ` and this name. */
  token: { name: string; scopes: readonly string[] } | null;
  /**
   * Finds what arrived, for the page that waits for it.
   * @param since RFC 3339
   * @param project null: any
   */
  findResult?(since: string, project: string | null): Promise<StepResult | null>;
}

export const ONBOARDING_STEPS = extensionPoint<OnboardingStep>('dashboard.first_steps');

/** Resolves the project that commands name. */
export interface StepProject {
  /** Returns the wanted project if it accepts reports, otherwise the newest. */
  resolveSlug(wanted: string | null): Promise<string | null>;
}

export const STEP_PROJECT = extensionPoint<StepProject>('dashboard.step_project');

/** Slug of the project that holds the sample data. */
export const SAMPLE_PROJECT = 'sample';

/** Sample data of a plugin, in the project `SAMPLE_PROJECT`. */
export interface SampleDataProvider {
  /** Added in ascending, removed in descending order. */
  order: number;
  add(principal: Principal): Promise<void>;
  /** Idempotent: a removal that failed is repeated. */
  remove(principal: Principal): Promise<void>;
}

export const SAMPLE_DATA = extensionPoint<SampleDataProvider>('dashboard.sample_data');
