/** What the kernel gives the web server: routes, pages and panels with the plugin that each belongs to. */
import type { OwnHosts } from './own-hosts.js';
import type { PageSpec, PanelSpec } from './page.js';
import type { RouteSpec } from './route.js';

/** Codes with the status that each answers and what it means, in one sentence. */
export type ErrorCodes = Readonly<Record<string, readonly [status: number, meaning: string, words?: string]>>;

export interface MountedRoute {
  plugin: string;
  /** What the plugin's manifest says about its routes. */
  about?: {
    title: string;
    tags: Readonly<Record<string, string>>;
  };
  spec: RouteSpec;
  /** False while the plugin is failed: its routes answer 503 `not_ready`. */
  ready: () => boolean;
}

export interface MountedPage {
  plugin: string;
  spec: PageSpec;
  /** Folder of the plugin's views. */
  views: string;
  ready: () => boolean;
}

export interface MountedPanel {
  plugin: string;
  spec: PanelSpec;
  views: string;
}

/** Hosts that show shared pages of this plugin alone. */
export interface MountedHosts {
  plugin: string;
  hosts: OwnHosts;
}
