//! Plots: every place is a number within its plot, and every text is escaped.

use super::scale::number;
use super::*;

fn value(at: f64) -> Option<Value> {
    Some(Value { at, interval: Some([at * 0.9, at * 1.1]) })
}

fn point_plot(rows: Vec<PointRow>, scale: Scale) -> PointPlot {
    PointPlot {
        title: "<t>".into(),
        description: "a & b".into(),
        axis: Axis::new("time, ms", scale),
        series: vec![Series::nth(0, "\"one\""), Series::nth(1, "two")],
        rows,
    }
}

/// All numbers of the attributes with places, and whether each element is closed.
fn check(svg: &str) {
    assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
    assert_eq!(svg.matches("<g").count(), svg.matches("</g>").count());
    let view = svg.split("viewBox=\"0 0 ").nth(1).unwrap().split('"').next().unwrap();
    let size: Vec<f64> = view.split(' ').map(|text| text.parse().unwrap()).collect();
    for (attribute, most) in [(" x=\"", size[0]), (" y=\"", size[1])] {
        for text in svg.split(attribute).skip(1) {
            let at: f64 = text.split('"').next().unwrap().parse().unwrap();
            assert!((0.0..=most).contains(&at), "{attribute}{at} beyond {most}");
        }
    }
    for path in svg.split(" d=\"M").skip(1) {
        let numbers = path.split(|letter: char| letter.is_ascii_alphabetic() || " \"".contains(letter));
        let start: Vec<f64> = numbers.take(2).map(|text| text.parse().unwrap()).collect();
        assert!((-5.0..=size[0]).contains(&start[0]) && (-5.0..=size[1]).contains(&start[1]), "{start:?}");
    }
}

#[test]
fn a_point_plot_has_a_mark_and_a_whisker_for_each_value() {
    let rows = vec![
        PointRow { label: "a<b".into(), values: vec![value(10.0), value(1_500.0)] },
        PointRow { label: "c".into(), values: vec![None, Some(Value { at: 50.0, interval: None })] },
    ];
    let svg = point_plot(rows, Scale::Log).svg();
    check(&svg);
    let long = PointRow { label: "long ".repeat(40), values: vec![value(10.0), None] };
    let cut = point_plot(vec![long], Scale::Log).svg();
    assert!(
        cut.contains("long lo…</text>") && cut.contains(&format!("<title>{}, &quot;one", "long ".repeat(40)))
    );
    // Two of the marks are those of the legend.
    assert_eq!(svg.matches("class=\"mark\"").count(), 3 + 2);
    assert_eq!(svg.matches("class=\"whisker\"").count(), 2);
    for text in [
        "<title>&lt;t&gt;</title>",
        "<desc>a &amp; b</desc>",
        ">a&lt;b<",
        "a&lt;b, two: 1,500 (1,350 to 1,650)",
        "&quot;one&quot;",
    ] {
        assert!(svg.contains(text), "{text}: {svg}");
    }
    assert!(svg.contains(">time, ms<") && svg.contains("role=\"img\""));
}

#[test]
fn values_without_a_place_are_left_out() {
    let odd = [f64::NAN, f64::INFINITY, 0.0, -1.0];
    let rows = odd.map(|at| PointRow { label: "x".into(), values: vec![value(at), value(7.0)] });
    let svg = point_plot(rows.into(), Scale::Log).svg();
    check(&svg);
    assert_eq!(svg.matches("class=\"whisker\"").count(), 4);
    check(&point_plot(Vec::new(), Scale::Linear).svg());
    check(&point_plot(Vec::new(), Scale::Log).svg());
}

#[test]
fn a_line_chart_joins_its_points_and_places_the_larger_value_higher() {
    let points = |values: [f64; 3]| -> Vec<(f64, Value)> {
        [1.0, 10.0, 750.0].into_iter().zip(values.map(|at| value(at).unwrap())).collect()
    };
    let lines = vec![
        Line { series: Series::nth(0, "low"), points: points([1.0, 2.0, 3.0]) },
        Line { series: Series::nth(9, "high"), points: points([100.0, 200.0, 50_000.0]) },
    ];
    let axes = [Axis::new("threads", Scale::Log), Axis::new("operations/s", Scale::Log)];
    let [x, y] = axes;
    let chart = LineChart { title: "t".into(), description: "d".into(), x, y, lines };
    let svg = chart.svg();
    check(&svg);
    let paths: Vec<&str> = svg.split("class=\"line\" d=\"M").skip(1).collect();
    assert_eq!(paths.len(), 2);
    let height = |path: &str| -> f64 {
        path.split('"')
            .next()
            .unwrap()
            .split('L')
            .next_back()
            .unwrap()
            .split(' ')
            .nth(1)
            .unwrap()
            .parse()
            .unwrap()
    };
    // The first line is drawn last, above the others.
    assert!(height(paths[0]) < height(paths[1]));
    assert!(svg.contains("class=\"c2 hollow\""));
}

#[test]
fn ticks_are_within_their_axis_and_few() {
    let ranges = [[1.0, 2.0], [15.0, 1_530.0], [0.000_011, 80.5], [3.0, 3.0], [1e-9, 1e12], [999.0, 1_001.0]];
    for scale in [Scale::Linear, Scale::Log] {
        for range in ranges {
            let placed = Axis::new("", scale).place(range.into_iter(), [10.0, 300.0]);
            let ticks = placed.ticks();
            assert!((1..=9).contains(&ticks.len()), "{scale:?} {range:?}: {}", ticks.len());
            assert!(ticks.iter().all(|tick| (10.0..=300.0).contains(&tick.at)), "{scale:?} {range:?}");
            assert!(ticks.windows(2).all(|pair| pair[0].at < pair[1].at && pair[0].label != pair[1].label));
            assert!(range.iter().all(|value| (10.0..=300.0).contains(&placed.at(*value))));
        }
    }
    let labels = |scale, range: [f64; 2]| -> Vec<String> {
        Axis::new("", scale)
            .place(range.into_iter(), [0.0, 100.0])
            .ticks()
            .into_iter()
            .map(|tick| tick.label)
            .collect()
    };
    assert_eq!(
        labels(Scale::Log, [15.0, 1_530.0]),
        ["10", "20", "50", "100", "200", "500", "1,000", "2,000"]
    );
    assert_eq!(labels(Scale::Log, [15.0, 90.0]), ["10", "20", "50", "100"]);
    assert_eq!(labels(Scale::Linear, [3.0, 47.0]), ["0", "10", "20", "30", "40", "50"]);
    assert_eq!(labels(Scale::Percentile, [0.0, 0.999]), ["50 %", "90 %", "99 %", "99.9 %"]);
}

#[test]
fn each_nine_takes_as_much_room() {
    let placed = Axis::new("", Scale::Percentile).place([0.0, 0.999].into_iter(), [0.0, 300.0]);
    let places = [0.0, 0.9, 0.99, 0.999, 1.0].map(|share| placed.at(share).round());
    assert_eq!(places, [0.0, 100.0, 200.0, 300.0, 300.0]);
}

#[test]
fn a_range_that_is_given_is_kept_for_all_plots() {
    let axis = Axis { range: Some([10.0, 1_000.0]), ..Axis::new("", Scale::Log) };
    let placed = axis.place([50.0].into_iter(), [0.0, 200.0]);
    assert_eq!(
        [1.0, 10.0, 100.0, 1_000.0, 5_000.0].map(|value| placed.at(value).round()),
        [0.0, 0.0, 100.0, 200.0, 200.0]
    );
}

#[test]
fn series_differ_in_shape_and_colour() {
    let seven: Vec<Series> = (0..7).map(|place| Series::nth(place, "s")).collect();
    let looks = |series: &Series| (series.class(), series.mark(50.0, 50.0));
    for (place, series) in seven.iter().enumerate() {
        let (class, mark) = looks(series);
        assert!(seven[..place].iter().map(looks).all(|other| other.0 != class && other.1 != mark));
    }
}

#[test]
fn a_plot_as_a_file_has_its_style() {
    let file = standalone(&point_plot(Vec::new(), Scale::Log).svg());
    assert!(file.starts_with("<svg xmlns=\"http://www.w3.org/2000/svg\""));
    assert!(file.contains("<style>\n.plot ") && file.find("<style>") < file.find("<title>"));
}

#[test]
fn labels_are_short() {
    let texts = [0.0, 0.05, 7.0, 1_500.0, 314_880.0, 2.5e6, 3e9, -1_000.0, 99.9].map(number);
    assert_eq!(texts, ["0", "0.05", "7", "1,500", "314,880", "2.5 M", "3 G", "-1,000", "99.9"]);
}

#[test]
fn bars_begin_at_zero_and_have_the_name_and_the_figure_of_each_system() {
    let bar = |at: f64| Some((Value { at, interval: Some([at * 0.9, at * 1.1]) }, format!("{at} reads")));
    let rows = vec![
        BarRow { label: "a<b".into(), values: vec![bar(10.0), bar(1_500.0)] },
        BarRow { label: String::new(), values: vec![None, bar(50.0)] },
    ];
    let series = vec![Series { is_bold: true, ..Series::nth(0, "one") }, Series::nth(1, "long ".repeat(20))];
    let chart = BarChart {
        title: "A title that is longer than the plot is wide, so that it needs a second line at the top of it, or even more".into(),
        description: "d".into(),
        axis: Axis::new("reads/s", Scale::Linear),
        series,
        rows,
    };
    let svg = chart.svg();
    check(&svg);
    assert_eq!(svg.matches("class=\"bar\"").count(), 3);
    assert_eq!(svg.matches("class=\"ends\"").count(), 3);
    assert_eq!(svg.matches("class=\"title\"").count(), 2);
    let widths: Vec<f64> = svg
        .split("<rect ")
        .skip(1)
        .map(|bar| bar.split(" width=\"").nth(1).unwrap().split('"').next().unwrap().parse().unwrap())
        .collect();
    assert!((widths[1] / widths[2] - 30.0).abs() < 0.5, "{widths:?}");
    for text in [">a&lt;b<", ">0<", ">reads/s<", ">one<", ">1500 reads<", "long…<", "class=\"c0 bold\""] {
        assert!(svg.contains(text), "{text}: {svg}");
    }
    let none = BarChart { rows: Vec::new(), series: Vec::new(), ..chart };
    check(&none.svg());
}

#[test]
fn every_plot_shows_its_title_and_the_names_of_its_axes() {
    let svg = point_plot(Vec::new(), Scale::Log).svg();
    assert!(svg.contains(">&lt;t&gt;</text>") && svg.contains(">time, ms</text>"), "{svg}");
    let [x, y] = ["threads", "commits/s"].map(|label| Axis::new(label, Scale::Log));
    let chart = LineChart { title: "Commits".into(), description: "d".into(), x, y, lines: Vec::new() };
    let svg = chart.svg();
    for text in [">Commits</text>", ">threads</text>", ">commits/s</text>"] {
        assert!(svg.contains(text), "{text}: {svg}");
    }
}

/// The colours of the style, of light or dark ground, as linear red, green and blue.
fn colours(is_dark: bool) -> Vec<[f64; 3]> {
    let linear = |part: &str| {
        let value = f64::from(u8::from_str_radix(part, 16).unwrap()) / 255.0;
        if value <= 0.040_45 { value / 12.92 } else { ((value + 0.055) / 1.055).powf(2.4) }
    };
    let of = |number: usize| {
        let before = if is_dark { format!("--plot-{number}: #") } else { format!("--plot-{number}, #") };
        let hex = &STYLE.split(&before).nth(1).unwrap()[..6];
        [0, 2, 4].map(|at| linear(&hex[at..at + 2]))
    };
    (0..7).map(of).collect()
}

fn applied(matrix: [[f64; 3]; 3], [x, y, z]: [f64; 3]) -> [f64; 3] {
    matrix.map(|[a, b, c]| (a * x + b * y + c * z).clamp(0.0, 1.0))
}

/// A colour as lightness and two axes of hue, in which equal steps look equal.
fn lab(colour: [f64; 3]) -> [f64; 3] {
    let white = [0.9505, 1.0, 1.089];
    let [x, y, z] =
        applied([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]], colour);
    let root = |value: f64| if value > 0.008_856 { value.cbrt() } else { 7.787 * value + 16.0 / 116.0 };
    let [x, y, z] = [x / white[0], y, z / white[2]].map(root);
    [116.0 * y - 16.0, 500.0 * (x - y), 200.0 * (y - z)]
}

/// Source: Machado, Oliveira and Fernandes, *A Physiologically-based Model for Simulation of Color Vision Deficiency*, 2009.
#[test]
fn people_who_see_no_red_or_no_green_tell_all_colours_apart() {
    let sights = [
        [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]],
        [
            [0.152_286, 1.052_583, -0.204_868],
            [0.114_503, 0.786_281, 0.099_216],
            [-0.003_882, -0.048_116, 1.051_998],
        ],
        [
            [0.367_322, 0.860_646, -0.227_968],
            [0.280_085, 0.672_501, 0.047_413],
            [-0.011_82, 0.042_94, 0.968_881],
        ],
    ];
    for is_dark in [false, true] {
        for sight in sights {
            let seen: Vec<[f64; 3]> =
                colours(is_dark).into_iter().map(|colour| lab(applied(sight, colour))).collect();
            for (place, one) in seen.iter().enumerate() {
                for other in &seen[..place] {
                    let apart =
                        one.iter().zip(other).map(|(one, other)| (one - other).powi(2)).sum::<f64>().sqrt();
                    assert!(apart > 25.0, "dark {is_dark}, {place}: {apart} {sight:?}");
                }
            }
        }
    }
}
