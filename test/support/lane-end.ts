/** What a lane of the runner does before it ends (scripts/test-worker.mjs): for what files leave outside of the process. */
const lane = globalThis as { laneEnds?: (() => Promise<void>)[] };

/** Other runners end without it. */
export function atLaneEnd(work: () => Promise<void>): void {
  lane.laneEnds?.push(work);
}
