/** What the dashboard lets others add: the steps from an empty service to an application that lives with it. */
import { extensionPoint } from '../token.js';

/** What a command is made of. */
export interface StepGiven {
  /** `server.base_url`, without a slash at its end. */
  baseUrl: string;
  /** The project that the steps speak of, else an example. */
  project: string;
  /** The secret of the step's token, else the variable that holds it. */
  token: string;
}

/** One thing that somebody new does, and that the service sees when it has happened. */
export interface FirstStep {
  /** Part of an address: small letters and hyphens. Steps of one id are one, which has happened when any has. */
  id: string;
  /** Steps are shown by rising order. */
  order: number;
  title: string;
  text: string;
  /** Where it is done by hand, in the same plugin; null: by the command alone. */
  page: { label: string; href: string } | null;
  /** Asked with every dashboard: at most one row read. */
  done(): Promise<boolean>;
  /** What runs as it is printed; null: the page alone does it. */
  command: ((given: StepGiven) => string) | null;
  /** What this service itself lacks for the command, with the line that mends it, shown in its place; null: nothing. */
  lacks?(): Promise<{ text: string; command: string } | null>;
  /** What the command's token may do; one button makes it. Null: the command needs none. */
  token: { name: string; scopes: readonly string[] } | null;
}

export const FIRST_STEPS = extensionPoint<FirstStep>('dashboard.first_steps');

/** The project that the steps speak of: their commands name it, and their tokens are for it alone. */
export interface StepProject {
  /** That one where it takes reports, else the one that was made last. Null: there is none yet. */
  slug(wanted: string | null): Promise<string | null>;
}

/** Added by the plugin that keeps projects. */
export const STEP_PROJECT = extensionPoint<StepProject>('dashboard.step_project');
