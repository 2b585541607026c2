/**
 * An item as the API shows it, rendered where the item is read or claimed (ports/rendering.ts), with its repository:
 * the one that an administrator has entered for the project is answered with an item that names none (contract 20,
 * untrusted text), and is no text from outside.
 */
import type { Item } from '../../../ports/domain/bugs.js';
import type { ProjectDirectory } from '../../../ports/domain/projects.js';
import type { Render, Renderer } from '../../../ports/rendering.js';
import type { ItemDoc, TextsDoc } from './model.js';
import { itemView } from './view.js';

/** Slug → address, of projects that have one. A type and no interface: it is JSON. */
export type ProjectRepositories = { [slug: string]: string };

export type RowContext = {
  /**
   * The time, in milliseconds since 1970; of lists the beginning of the running minute: the rolling hour moves by
   * minutes, and leases that have run out are written before a list reads, or it gives the time itself.
   */
  now: number;
  /** Null: no project has one. */
  repositories: ProjectRepositories | null;
};

export const render: Render<ItemDoc, TextsDoc, RowContext> = (item, texts, { now, repositories }) =>
  located(itemView(item, texts, now), repositories);

export const ITEM_ROW: Renderer = { render, module: new URL(import.meta.url) };

/** @param repositories null: no project has one */
function located(item: Item, repositories: ProjectRepositories | null): Item {
  if (item.repo_url || repositories === null || !Object.hasOwn(repositories, item.project)) return item;
  return { ...item, repo_url: repositories[item.project] ?? null };
}

/** The same of one item, by asking for its project. */
export async function locatedIn(projects: Pick<ProjectDirectory, 'get'>, item: Item): Promise<Item> {
  const repo_url = item.repo_url ? null : (await projects.get(item.project))?.repo_url;
  return repo_url ? { ...item, repo_url } : item;
}
