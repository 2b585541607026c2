/** Onboarding steps that plugins add to the dashboard. */
import { extensionPoint } from '../token.js';

/** Values for a step's command. */
export interface StepContext {
  /** `server.base_url` without trailing slash. */
  baseUrl: string;
  /** Project slug, or an example. */
  project: string;
  /** Token secret, or the variable that holds it. */
  token: string;
}

/** An onboarding step whose completion the service detects. */
export interface OnboardingStep {
  /**
   * URL segment: lower-case letters and hyphens. Steps with one id are complete when any of them
   * is.
   */
  id: string;
  /** Ascending display order. */
  order: number;
  title: string;
  text: string;
  /** Page for the manual way; null: only the command. */
  page: { label: string; href: string } | null;
  /** Called for every dashboard: read one row at most. */
  isDone(): Promise<boolean>;
  /** Complete shell command; null: only the page does it. */
  command: ((given: StepContext) => string) | null;
  /**
   * Returns missing setup and the command that fixes it, shown instead of the step's command; or
   * null.
   */
  findMissingSetup?(): Promise<{ text: string; command: string } | null>;
  /** Token that one button creates; null: none needed. */
  token: { name: string; scopes: readonly string[] } | null;
}

export const ONBOARDING_STEPS = extensionPoint<OnboardingStep>('dashboard.first_steps');

/** Resolves the project that the commands name and their tokens are limited to. */
export interface StepProject {
  /** Returns the wanted project if it accepts reports, otherwise the newest, or null. */
  resolveSlug(wanted: string | null): Promise<string | null>;
}

/** For the plugin that manages projects. */
export const STEP_PROJECT = extensionPoint<StepProject>('dashboard.step_project');
