// Graph layout: arranges the tasks of a plan's dependency graph. Uses dagre for small plans. For larger ones dagre is slow, so
// their tasks are arranged in columns, each to the right of its dependencies.
//
// Invariants: transitive edges are omitted (transitive reduction).
import { Graph, layout } from "@dagrejs/dagre";
import type { Arrow, Box, Drawing } from "../page/plan-data.ts";

const MAX_DAGRE_TASKS = 150;
const HEIGHT = 40;
const GAP = { along: 48, across: 14 };
const MARGIN = 12;

/** @param widths pixels, by task @param waitsFor by task; every dependency has a smaller position */
export function drawGraph(widths: readonly number[], waitsFor: readonly (readonly number[])[]): Drawing {
  const nearest = reduceEdges(waitsFor);
  return widths.length <= MAX_DAGRE_TASKS ? arrange(widths, nearest) : alignColumns(widths, nearest);
}

function arrange(widths: readonly number[], nearest: readonly (readonly number[])[]): Drawing {
  const graph = new Graph();
  graph.setGraph({
    rankdir: "LR",
    ranker: "tight-tree",
    nodesep: GAP.across,
    ranksep: GAP.along,
    marginx: MARGIN,
    marginy: MARGIN,
  });
  graph.setDefaultEdgeLabel(() => ({}));
  for (const [index, width] of widths.entries()) graph.setNode(String(index), { width, height: HEIGHT });
  for (const [to, before] of nearest.entries())
    for (const from of before) graph.setEdge(String(from), String(to));
  layout(graph);
  const { width = 0, height = 0 } = graph.graph() as { width?: number; height?: number };
  const arrows = graph.edges().map(({ v, w }): Arrow => {
    const { points = [] } = graph.edge(v, w) as { points?: Arrow["points"] };
    return {
      from: Number(v),
      to: Number(w),
      points: points.map(({ x, y }) => ({ x: whole(x), y: whole(y) })),
    };
  });
  const boxes = widths.map((_, index): Box => {
    const { x, y, width, height } = graph.node(String(index)) as Box;
    return { x: whole(x), y: whole(y), width, height };
  });
  return { width: whole(width), height: whole(height), boxes, arrows };
}

function alignColumns(widths: readonly number[], nearest: readonly (readonly number[])[]): Drawing {
  const columns: number[] = [];
  const members: number[][] = [];
  for (const [index, before] of nearest.entries()) {
    const column = Math.max(-1, ...before.map((each) => columns[each]!)) + 1;
    columns.push(column);
    (members[column] ??= []).push(index);
  }
  const boxes: Box[] = [];
  let left = MARGIN;
  for (const each of members) {
    const width = Math.max(...each.map((index) => widths[index]!));
    for (const [row, index] of each.entries())
      boxes[index] = {
        x: left + width / 2,
        y: MARGIN + row * (HEIGHT + GAP.across) + HEIGHT / 2,
        width: widths[index]!,
        height: HEIGHT,
      };
    left += width + GAP.along;
  }
  const arrows = nearest.flatMap((before, to) =>
    before.map((from): Arrow => {
      const [a, b] = [boxes[from]!, boxes[to]!];
      return {
        from,
        to,
        points: [
          { x: a.x + a.width / 2, y: a.y },
          { x: b.x - b.width / 2, y: b.y },
        ],
      };
    }),
  );
  const rows = Math.max(0, ...members.map(({ length }) => length));
  return { width: left, height: 2 * MARGIN + rows * (HEIGHT + GAP.across), boxes, arrows };
}

/** Removes edges that follow from others. */
function reduceEdges(waitsFor: readonly (readonly number[])[]): number[][] {
  const above: Set<number>[] = [];
  return waitsFor.map((before) => {
    const all = new Set(before);
    for (const each of before) for (const further of above[each]!) all.add(further);
    above.push(all);
    return before.filter((each) => !before.some((other) => above[other]!.has(each)));
  });
}

function whole(length: number): number {
  return Math.round(length);
}
