/** Builds the plugin's services, each from what the ones before it offer. */
import type { PluginContext } from '../../kernel/contract.js';
import { Aftermath } from './aftermath.js';
import { Alarms } from './alarms.js';
import { Bugs } from './api.js';
import { Board } from './board.js';
import { Bulk } from './bulk.js';
import { Builds } from './closing.js';
import {
  AFTERMATH,
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
  MARKS,
  OUTBOX,
  REFS,
  TALLY,
  REKEYING,
  type Deps,
} from './deps.js';
import { Discussion } from './discussion.js';
import { Edits } from './edits.js';
import { Intake } from './intake.js';
import { Items } from './items.js';
import { Keys } from './keys.js';
import { Leases } from './leases.js';
import { Lists } from './lists.js';
import { Marks } from './marks.js';
import { Merging } from './merging.js';
import { Muter } from './muting.js';
import { Outbox } from './outbox.js';
import { Refs } from './refs.js';
import { Rekeying } from './rekeying.js';
import { SavedViews } from './saved-views.js';
import { Stats } from './stats.js';
import { Tally } from './tally.js';

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
  make(MARKS, Marks);
  make(OUTBOX, Outbox);
  make(KEYS, Keys);
  make(REFS, Refs);
  make(TALLY, Tally);
  make(ITEMS, Items);
  make(BUILDS, Builds);
  make(AFTERMATH, Aftermath);
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
