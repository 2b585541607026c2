import type { LiveTokenDetector } from './domain/live-tokens.js';
import type { StorageSpace } from './domain/health.js';
import type {
  Authenticator,
  ErrorCodes,
  FormResultStore,
  MountedHosts,
  MountedPage,
  MountedPanel,
  MountedRoute,
  ProjectChoices,
} from './http/index.js';
import type { RouteTools } from './tools.js';

/** HTTP server; mount first, then start. */
export interface HttpServer {
  /** Finds faults in views, icons and forms, each a sentence with location and fix. */
  findFaults(
    parts: { pages: readonly MountedPage[]; panels: readonly MountedPanel[] },
    plugins: ReadonlySet<string>,
  ): { plugin: string; fault: string }[];
  mount(parts: {
    routes: readonly MountedRoute[];
    pages: readonly MountedPage[];
    panels: readonly MountedPanel[];
    /** Absent: every host shows all pages. */
    hosts?: readonly MountedHosts[];
    /** Other codes are faults. Absent: any code. */
    codes?: ErrorCodes;
    /** Paths of plugins that do not run: they and all below answer 503. */
    unavailable?: () => readonly string[];
    /** A plugin's part cannot be mounted. Absent: mounting fails. */
    failed?: (plugin: string, error: unknown) => void;
    authenticator: Authenticator;
    /** Absent: repeated forms run again. */
    forms?: FormResultStore | null;
    /** Absent: no project selection. */
    projects?: ProjectChoices | null;
    /** Absent: free space is not checked. */
    space?: StorageSpace | null;
    /** Absent: no text is rejected. */
    liveTokens?: LiveTokenDetector | null;
  }): Promise<void>;
  /** Returns the URL. */
  start(): Promise<string>;
  stop(timeoutMs: number): Promise<void>;
  getOpenApi(): Promise<object>;
  getTools(): RouteTools;
}
