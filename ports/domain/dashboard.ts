/** What the dashboard lets others add: the first steps that it shows while the service is empty. */
import { extensionPoint } from '../token.js';

/** A terminal command on the way to the first report. */
export interface FirstStep {
  /** Steps are shown by rising order. */
  order: number;
  title: string;
  text: string;
  /** @param baseUrl `server.base_url`, without a slash at its end */
  command(baseUrl: string): string;
}

export const FIRST_STEPS = extensionPoint<FirstStep>('dashboard.first_steps');
