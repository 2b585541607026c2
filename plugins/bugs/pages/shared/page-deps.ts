import joi from 'joi';
import type { HttpRequest } from '../../../../kernel/contract.js';
import type { ItemAction } from '../../../../ports/domain/bugs.js';
import type { ItemFacts } from '../../../../ports/domain/item-facts.js';
import type { BugDeps } from '../../deps.js';
import type { BugServices } from '../../services.js';
import type { OverviewNumbers } from './numbers.js';
import type { Reader } from './reader.js';

export interface PageDeps {
  services: BugServices;
  reader: Reader;
  numbers: OverviewNumbers;
  deps: Pick<BugDeps, 'items' | 'clock' | 'ids' | 'projects' | 'accounts'>;
  actions: () => readonly ItemAction[];
  facts: () => readonly ItemFacts[];
  /** `app.base_url`, available once the server listens. */
  baseUrl: () => string;
  timezone: () => string;
}

export const params = joi.object({ ref: joi.string().max(100).required() });

export const refOf = (request: HttpRequest): string => request.params['ref'] ?? '';
