import type { CustomHosts } from './custom-hosts.js';
import type { PageSpec, PanelSpec } from './page.js';
import type { RouteSpec } from './route.js';

/** Error codes with status and meaning. */
export type ErrorCodes = Readonly<Record<string, readonly [status: number, meaning: string, words?: string]>>;

export interface MountedRoute {
  plugin: string;
  /** API description from the plugin's manifest. */
  about?: {
    title: string;
    tags: Readonly<Record<string, string>>;
  };
  spec: RouteSpec;
  /** If false, the plugin's routes respond 503 `not_ready`. */
  ready: () => boolean;
}

export interface MountedPage {
  plugin: string;
  spec: PageSpec;
  /** View folder of the plugin. */
  views: string;
  ready: () => boolean;
}

export interface MountedPanel {
  plugin: string;
  spec: PanelSpec;
  views: string;
}

/** Custom hosts for a plugin's shared pages. */
export interface MountedHosts {
  plugin: string;
  hosts: CustomHosts;
}
