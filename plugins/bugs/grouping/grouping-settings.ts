import { ALL_MASKS, type MaskOptions } from './message-mask.js';

export interface GroupingSettings {
  /** New items of one source per hour that activate the flood rule; 0 disables it. */
  flood_items: number;
  masks: Partial<MaskOptions>;
}

export function parseGroupingSettings(section: Readonly<Record<string, number | boolean>>): GroupingSettings {
  const masks: Partial<MaskOptions> = {};
  for (const name of Object.keys(ALL_MASKS) as (keyof MaskOptions)[]) {
    const wanted = section[`mask_${name}`];
    if (typeof wanted === 'boolean') masks[name] = wanted;
  }
  return { flood_items: Number(section['flood_items'] ?? 0), masks };
}
