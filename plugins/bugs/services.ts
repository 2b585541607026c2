/** Builds the plugin's services, each from what the ones before it offer. */
import type { PluginContext } from '../../kernel/contract.js';
import { Escalation } from './intake/escalation.js';
import { ItemUpkeep } from './intake/item-upkeep.js';
import { PayloadSampler } from './intake/payload-sampler.js';
import { Alarms } from './muting/alarms.js';
import { Bugs } from './api.js';
import { Board } from './lists/board.js';
import { Bulk } from './items/bulk.js';
import { Builds } from './releases/closing.js';
import {
  ESCALATION,
  ITEM_UPKEEP,
  PAYLOAD_SAMPLER,
  ALARMS,
  BUILDS,
  DEPS,
  DISCUSSION,
  EDITS,
  INTAKE,
  ITEMS,
  KEYS,
  LEASES,
  LISTS,
  DELTA_WATERMARK,
  OUTBOX,
  CLIENT_REFS,
  COUNT_BATCHER,
  REKEYING,
  type Deps,
} from './deps.js';
import { Discussion } from './items/discussion.js';
import { Edits } from './items/edits.js';
import { Intake } from './intake/intake.js';
import { Items } from './items/items.js';
import { Keys } from './grouping/keys.js';
import { Leases } from './claims/leases.js';
import { Lists } from './lists/lists.js';
import { DeltaWatermark } from './items/delta-watermark.js';
import { Merging } from './merging/merging.js';
import { Muter } from './muting/muting.js';
import { Outbox } from './items/outbox.js';
import { ClientRefs } from './intake/client-refs.js';
import { Rekeying } from './merging/rekeying.js';
import { SavedViews } from './lists/saved-views.js';
import { Stats } from './lists/stats.js';
import { CountBatcher } from './intake/count-batcher.js';

export interface Services {
  bugs: Bugs;
  intake: Intake;
  leases: Leases;
  edits: Edits;
  discussion: Discussion;
  lists: Lists;
  board: Board;
  muting: Muter;
  bulk: Bulk;
  merging: Merging;
  stats: Stats;
  views: SavedViews;
}

/** @param scope the plugin's own container */
export function buildServices(scope: Pick<PluginContext, 'bind' | 'construct'>, deps: Deps): Services {
  const make = <T>(name: string, type: new (...args: never[]) => T): T => {
    const service = scope.construct(type);
    scope.bind(name, service);
    return service;
  };
  scope.bind(DEPS, deps);
  make(DELTA_WATERMARK, DeltaWatermark);
  make(OUTBOX, Outbox);
  make(KEYS, Keys);
  make(CLIENT_REFS, ClientRefs);
  make(COUNT_BATCHER, CountBatcher);
  make(ITEMS, Items);
  make(BUILDS, Builds);
  make(ESCALATION, Escalation);
  make(PAYLOAD_SAMPLER, PayloadSampler);
  make(ITEM_UPKEEP, ItemUpkeep);
  make(ALARMS, Alarms);
  const intake = make(INTAKE, Intake);
  const leases = make(LEASES, Leases);
  const discussion = make(DISCUSSION, Discussion);
  make(REKEYING, Rekeying);
  const edits = make(EDITS, Edits);
  const lists = make(LISTS, Lists);
  return {
    intake,
    leases,
    discussion,
    edits,
    lists,
    bulk: scope.construct(Bulk),
    merging: scope.construct(Merging),
    stats: scope.construct(Stats),
    views: scope.construct(SavedViews),
    board: scope.construct(Board),
    muting: scope.construct(Muter),
    bugs: scope.construct(Bugs),
  };
}
