import joi from 'joi';
import type { HttpRequest } from '../../../../kernel/contract/index.js';
import type { ItemAction } from '../../../../ports/domain/bugs.js';
import type { AgentAssigner, ItemFactProvider, ReleaseLinkProvider } from '../../../../ports/domain/item-facts.js';
import type { BugDeps } from '../../deps.js';
import type { BugServices } from '../../services.js';
import type { MonthlyStatsCache } from './monthly-stats.js';
import type { ItemPageReader } from './item-reader.js';

export interface PageDeps {
  services: BugServices;
  reader: ItemPageReader;
  numbers: MonthlyStatsCache;
  deps: Pick<BugDeps, 'items' | 'clock' | 'ids' | 'projects' | 'accounts'>;
  actions: () => readonly ItemAction[];
  facts: () => readonly ItemFactProvider[];
  agents: () => readonly AgentAssigner[];
  releases: () => readonly ReleaseLinkProvider[];
  baseUrl: () => string;
  timezone: () => string;
}

export const refParamsSchema = joi.object({ ref: joi.string().max(100).required() });

export const getRef = (request: HttpRequest): string => request.params['ref'] ?? '';
