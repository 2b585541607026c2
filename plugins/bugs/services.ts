/** Builds the plugin's services, each from what the ones before it offer. */
import type { PluginContext } from '../../kernel/contract.js';
import { Aftermath } from './aftermath.js';
import { Bugs } from './api.js';
import { Board } from './board.js';
import { Builds } from './closing.js';
import {
  AFTERMATH,
  BUILDS,
  DEPS,
  DISCUSSION,
  INTAKE,
  ITEMS,
  KEYS,
  LEASES,
  MARKS,
  OUTBOX,
  REFS,
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
import { Outbox } from './outbox.js';
import { Refs } from './refs.js';

export interface Services {
  bugs: Bugs;
  intake: Intake;
  leases: Leases;
  edits: Edits;
  discussion: Discussion;
  lists: Lists;
  board: Board;
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
  make(ITEMS, Items);
  make(BUILDS, Builds);
  make(AFTERMATH, Aftermath);
  const intake = make(INTAKE, Intake);
  const leases = make(LEASES, Leases);
  const discussion = make(DISCUSSION, Discussion);
  return {
    intake,
    leases,
    discussion,
    edits: scope.construct(Edits),
    lists: scope.construct(Lists),
    board: scope.construct(Board),
    bugs: scope.construct(Bugs),
  };
}
