/** An item as the API shows it, rendered where the item is read or claimed (ports/rendering.ts). */
import type { Render, Renderer } from '../../../ports/rendering.js';
import type { ItemDoc, TextsDoc } from './model.js';
import { itemView } from './view.js';

/**
 * @param context the time, in milliseconds since 1970; of lists the beginning of the running minute: the rolling hour
 * moves by minutes, and leases that have run out are written before a list reads, or it gives the time itself
 */
export const render: Render<ItemDoc, TextsDoc, number> = (item, texts, now) => itemView(item, texts, now);

export const ITEM_ROW: Renderer = { render, module: new URL(import.meta.url) };
