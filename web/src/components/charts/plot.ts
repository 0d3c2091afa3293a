/** Draws the lines of a chart with uPlot. Loaded with the first chart. */

import uPlot from 'uplot'
import 'uplot/dist/uPlot.min.css'
import { number } from '../../lib/formats'

export interface Series {
  label: string
  values: readonly (number | null)[]
}

export interface PlotOptions {
  times: readonly number[]
  series: readonly Series[]
  digits: number
  height: number
  language: string
  onhover: (at: number | null) => void
}

export interface Plot {
  update: (times: readonly number[], series: readonly Series[]) => void
  remove: () => void
}

const COLOURS = ['--s1', '--s2', '--s3', '--s4']
const DASHES = [[], [7, 4], [2, 4], [12, 4, 2, 4]]
const LABEL_HEIGHT = 16
const MINUTE = 60_000
const DAY = 24 * 60 * MINUTE
/** Distances between the labels of the time axis: whole minutes, so that no label repeats. */
const TIME_STEPS = [1, 2, 5, 10, 15, 30, 60, 120, 180, 360, 720, 1440, 2880, 10_080, 43_200].map((minutes) => minutes * MINUTE)

export function createPlot(container: HTMLElement, settings: PlotOptions): Plot {
  const colours = computedColours(container, [...COLOURS, '--ink', '--ink2', '--line'])
  const font = `13px ${getComputedStyle(container).fontFamily}`
  const labelWidth = Math.ceil(Math.max(0, ...settings.series.map((line) => widthOf(line.label, font)))) + 14
  const chart = new uPlot(options(), columns(settings.times, settings.series), container)
  const watcher = new ResizeObserver(() => chart.setSize({ width: container.clientWidth, height: settings.height }))
  watcher.observe(container)

  function options(): uPlot.Options {
    return {
      width: container.clientWidth, height: settings.height, ms: 1, padding: [10, labelWidth, 0, 0],
      legend: { show: false },
      cursor: { y: false, drag: { x: false, y: false }, points: { size: 8 } },
      scales: { y: { range: (_chart, low, high) => uPlot.rangeNum(Math.min(0, low ?? 0), Math.max(high ?? 1, 1), 0.1, true) } },
      axes: [
        { ...axis(), size: 28, grid: { show: false }, values: timeLabels, incrs: TIME_STEPS, space: 84 },
        { ...axis(), size: (_chart, values) => 12 + Math.max(24, ...(values ?? []).map((text) => widthOf(text, font))), values: (_chart, splits) => splits.map((value) => number(value, settings.digits)), incrs: valueSteps(settings.digits), space: 36 },
      ],
      series: [{}, ...settings.series.map((line, at) => ({
        label: line.label, stroke: colours[COLOURS[at]!]!, width: 2.5, dash: DASHES[at]!, points: { show: settings.times.length < 2 },
      }))],
      hooks: {
        draw: [(drawn) => drawLabels(drawn, colours['--ink']!, font)],
        setCursor: [(drawn) => settings.onhover(drawn.cursor.idx ?? null)],
      },
    }
  }

  /** The labels of the time axis. Of a span shorter than the smallest step, uPlot may place the only one beyond the end. */
  function timeLabels(drawn: uPlot, splits: number[]): string[] {
    const format = timeFormatter(settings.language, settings.times)
    return splits.map((at) => (at > (drawn.scales.x?.max ?? Infinity) ? '' : format(at)))
  }

  function axis(): uPlot.Axis {
    const line = colours['--line']!
    return { stroke: colours['--ink2']!, font, ticks: { show: false }, grid: { stroke: line, width: 1 }, gap: 6 }
  }

  return {
    update: (times, series) => chart.setData(columns(times, series)),
    remove: () => {
      watcher.disconnect()
      chart.destroy()
    },
  }
}

/** Distances between the labels of the value axis: none is so small that two labels are rounded to the same number. */
function valueSteps(digits: number): number[] {
  return Array.from({ length: 12 }, (_, power) => [1, 2, 5].map((step) => step * 10 ** (power - digits))).flat()
}

function columns(times: readonly number[], series: readonly Series[]): uPlot.AlignedData {
  return [[...times], ...series.map((line) => [...line.values])]
}

/** Draw each line's label at its end, moved apart where two would overlap. */
function drawLabels(chart: uPlot, ink: string, font: string): void {
  const { ctx, bbox } = chart
  const ratio = devicePixelRatio
  const ends = chart.series.slice(1).map((line, at) => {
    const values = chart.data[at + 1]!
    const last = values.findLastIndex((value) => value !== null && value !== undefined)
    const y = last < 0 ? null : chart.valToPos(values[last] as number, 'y', true)
    return { label: String(line.label), y }
  }).filter((end): end is { label: string; y: number } => end.y !== null).sort((a, b) => a.y - b.y)

  const apart = LABEL_HEIGHT * ratio
  ends.forEach((end, at) => { if (at > 0) end.y = Math.max(end.y, ends[at - 1]!.y + apart) })
  let floor = bbox.top + bbox.height
  for (const end of ends.toReversed()) {
    end.y = Math.min(end.y, floor)
    floor = end.y - apart
  }
  ctx.save()
  ctx.font = font.replace('13px', `${13 * ratio}px`)
  ctx.fillStyle = ink
  ctx.textAlign = 'left'
  ctx.textBaseline = 'middle'
  for (const end of ends) ctx.fillText(end.label, bbox.left + bbox.width + 8 * ratio, end.y)
  ctx.restore()
}

/** The computed colours of custom properties, which a canvas cannot resolve. */
function computedColours(container: HTMLElement, names: string[]): Record<string, string> {
  const probe = document.createElement('span')
  // A transition would give the previous colour.
  probe.style.transition = 'none'
  container.append(probe)
  const colours = names.map((name) => {
    probe.style.color = `var(${name})`
    return [name, getComputedStyle(probe).color]
  })
  probe.remove()
  return Object.fromEntries(colours)
}

const measure = document.createElement('canvas').getContext('2d')

function widthOf(text: string, font: string): number {
  if (!measure) return text.length * 8
  measure.font = font
  return measure.measureText(text).width
}

function timeFormatter(language: string, times: readonly number[]): (at: number) => string {
  const span = (times.at(-1) ?? 0) - (times[0] ?? 0)
  const parts: Intl.DateTimeFormatOptions = span > 1.5 * DAY ? { month: 'numeric', day: 'numeric' } : { hour: 'numeric', minute: '2-digit' }
  const format = new Intl.DateTimeFormat(language, parts)
  return (at) => format.format(at)
}
