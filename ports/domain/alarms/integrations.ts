import { extensionPoint } from '../../token.js';

/** A row on the page of integrations. */
export interface Integration {
  name: string;
  /** What it does, in at most eight words. */
  text: string;
  /** Such as `2 webhooks`; null when it is not set up. */
  state: string | null;
  /** Something is wrong, for example a disabled webhook. */
  isFailing: boolean;
  href: string;
  action: string;
}

/** Adds rows to the page of integrations, by `order`. */
export interface IntegrationProvider {
  order: number;
  loadIntegrations(): Promise<readonly Integration[]>;
}

export const INTEGRATIONS = extensionPoint<IntegrationProvider>('notifications.integrations');
