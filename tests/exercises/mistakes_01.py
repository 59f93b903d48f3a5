"""Problem set 01: points, and typical mistakes with the sentences that name them."""

from sheets import function

NAME = "01_loop_closure"
POINTS = {
    "test-loop-closure": 2,
    "test-both-assemblies": 5,
    "test-loop-jacobian": 3,
    "test-passive-velocities": 4,
    "test-reach-of-crank": 3,
    "test-coupler-velocity": 3,
}


def loop(x, y, *first):
    return function(
        "loop_closure(q, a, b, c, d)",
        *first,
        "t2, t3, t4 = q",
        f"return np.array([{x}, {y}])",
    )


RIGHT_X = "a * np.cos(t2) + b * np.cos(t3) - c * np.cos(t4) - d"
RIGHT_Y = "a * np.sin(t2) + b * np.sin(t3) - c * np.sin(t4)"


def assemblies(
    returned="one, two",
    pair="np.array([np.arctan2(C[1] - B[1], C[0] - B[0]), np.arctan2(C[1], C[0] - d)])",
    beta="np.arccos((b**2 + r**2 - c**2) / (2 * b * r))",
    direction="np.arctan2(-B[1], d - B[0])",
    sign="1",
):
    return function(
        "both_assemblies(theta2, a, b, c, d)",
        "B = a * np.array([np.cos(theta2), np.sin(theta2)])",
        "r = np.sqrt((d - B[0]) ** 2 + B[1] ** 2)",
        f"beta = {beta}",
        f"direction = {direction}",
        "def angles(sign):",
        "    t = direction + sign * beta",
        "    C = B + b * np.array([np.cos(t), np.sin(t)])",
        f"    return {pair}",
        f"one, two = angles({sign}), angles(-{sign})",
        f"return {returned}",
    )


def jacobian(x="-a * s2, -b * s3, c * s4", y="a * c2, b * c3, -c * c4", first="t2, t3, t4 = q"):
    return function(
        "loop_jacobian(q, a, b, c, d)",
        first,
        "s2, s3, s4 = np.sin([t2, t3, t4])",
        "c2, c3, c4 = np.cos([t2, t3, t4])",
        f"return np.array([[{x}], [{y}]])",
    )


def velocities(returned, lengths="a, b, -c"):
    return function(
        "passive_velocities(q, theta2dot, a, b, c, d)",
        f"l = np.array([{lengths}])",
        "J = np.array([-l * np.sin(q), l * np.cos(q)])",
        "crank, coupler, rocker = J.T",
        "K = np.column_stack([coupler, rocker])",
        f"return {returned}",
    )


def by_sines(w3, w4):
    return function(
        "passive_velocities(q, theta2dot, a, b, c, d)",
        "t2, t3, t4 = q",
        f"return np.array([{w3}, {w4}])",
    )


def reach(returned, near="abs(b - c)", far="b + c", sign="+"):
    return function(
        "reach_of_crank(a, b, c, d)",
        f"small = np.arccos(np.clip({sign}(a**2 + d**2 - ({near})**2) / (2 * a * d), -1, 1))",
        f"large = np.arccos(np.clip({sign}(a**2 + d**2 - ({far})**2) / (2 * a * d), -1, 1))",
        f"return {returned}",
    )


def coupler(*lines):
    return function("coupler_velocity(q, v, a, rP, deltaP)", *lines)


def velocity_of_P(angle="q[1] + deltaP", rate="v[1]", x="-1"):
    return coupler(
        "t = q[0]",
        f"s, w = {angle}, {rate}",
        "vx = a * v[0] * np.sin(t) + rP * w * np.sin(s)",
        f"return np.array([{x} * vx, a * v[0] * np.cos(t) + rP * w * np.cos(s)])",
    )


MISTAKES = {
    "test-loop-closure": [
        (loop(RIGHT_X.removesuffix(" - d"), RIGHT_Y), "the way from A to D is missing"),
        (loop(RIGHT_X, RIGHT_Y + " - d"), "and here it counts in both"),
        (loop(f"-({RIGHT_X})", f"-({RIGHT_Y})"), "its sign is wrong"),
        (loop(RIGHT_X.replace("- c", "+ c"), RIGHT_Y.replace("- c", "+ c")), "the rocker is added"),
        (loop(RIGHT_X.replace("- d", "+ d"), RIGHT_Y), "the ground has the wrong sign"),
        (loop(RIGHT_X.replace("cos", "sin"), RIGHT_Y.replace("sin", "cos")), "sine and cosine are interchanged"),
        (loop(RIGHT_X.replace("t3", "t2 + t3"), RIGHT_Y.replace("t3", "t2 + t3")), "the angle from crank to coupler"),
        (loop(RIGHT_X, RIGHT_Y, "q = np.radians(q)"), "it treats the angles as degrees"),
    ],
    "test-both-assemblies": [
        (assemblies(sign="-1"), "the assemblies are interchanged"),
        (assemblies("np.degrees(one), np.degrees(two)"), "the angles are in degrees"),
        (assemblies("one[::-1], two[::-1]"), "in the order θ₄, θ₃"),
        (assemblies("one - [theta2, 0], two - [theta2, 0]"), "θ₃ is measured from the crank"),
        (
            assemblies(pair="np.array([np.arctan2(C[1] - B[1], C[0] - B[0]), np.arctan2(-C[1], d - C[0])])"),
            "the direction from C to D",
        ),
        (
            assemblies(pair="np.array([np.arccos((C[0] - B[0]) / b), np.arccos((C[0] - d) / c)])"),
            "the signs of the angles are lost",
        ),
        (assemblies(direction="np.arccos((d - B[0]) / r)"), "the direction from B to D has lost its sign"),
        (
            assemblies(pair="np.array([np.arctan((C[1] - B[1]) / (C[0] - B[0])), np.arctan(C[1] / (C[0] - d))])"),
            "two of the four quadrants are lost",
        ),
        (assemblies(beta="np.arccos((c**2 + r**2 - b**2) / (2 * c * r))"), "b and c are interchanged"),
        (assemblies("np.mod(one, 2 * np.pi), np.mod(two, 2 * np.pi)"), "right up to full turns"),
        (
            assemblies(
                "[one, DB - delta], [two, DB + delta]",
                pair="t",
                direction="np.arctan2(-B[1], d - B[0])\n    DB = np.arctan2(B[1], B[0] - d)\n    "
                "delta = np.arccos((c**2 + r**2 - b**2) / (2 * c * r))",
            ),
            "θ₄ is right up to a full turn",
        ),
    ],
    "test-loop-jacobian": [
        (
            jacobian("-a * s2, -b * s3, -c * s4", "a * c2, b * c3, c * c4"),
            "the column of the rocker has the wrong sign",
        ),
        (jacobian(y="a * c2, b * c3, c * c4"), "the last entry of the rocker's column"),
        (jacobian(x="a * s2, b * s3, -c * s4"), "the row of x has the wrong sign"),
        (jacobian("a * s2, b * s3, -c * s4", "-a * c2, -b * c3, c * c4"), "wrong sign as a whole"),
        (jacobian(y="-a * s2, -b * s3, c * s4", x="a * c2, b * c3, -c * c4"), "the rows are interchanged"),
        (jacobian("-a * c2, -b * c3, c * c4", "a * s2, b * s3, -c * s4"), "sine and cosine are interchanged"),
        (jacobian("-s2, -s3, s4", "c2, c3, -c4"), "the lengths are missing"),
        (jacobian(first="t2, t3, t4 = q[0], q[0] + q[1], q[2]"), "the angle from crank to coupler"),
    ],
    "test-passive-velocities": [
        (velocities("np.linalg.solve(K, crank * theta2dot)"), "the signs are wrong"),
        (velocities("np.linalg.solve(K[:, ::-1], -crank * theta2dot)"), "in the order rocker, coupler"),
        (
            velocities("np.linalg.solve(np.column_stack([crank, coupler]), -crank * theta2dot)"),
            "the column of the crank stands on both sides",
        ),
        (
            velocities("np.linalg.solve(np.column_stack([crank, coupler]), -rocker * theta2dot)"),
            "it treats the rocker as the driven bar",
        ),
        (velocities("np.linalg.solve(K, -crank * theta2dot) - [theta2dot, 0]"), "is measured against the crank"),
        (
            velocities("np.linalg.solve(K, -crank * theta2dot)", "a, b, c"),
            "the velocity of the rocker has the wrong sign",
        ),
        (velocities("np.linalg.solve(K, -crank * theta2dot)", "1, 1, -1"), "the lengths are missing"),
        (
            by_sines(
                "theta2dot * b * np.sin(t3 - t4) / (a * np.sin(t4 - t2))",
                "theta2dot * c * np.sin(t3 - t4) / (a * np.sin(t3 - t2))",
            ),
            "upside down",
        ),
        (velocities("np.linalg.solve(K, -crank)"), "this is the motion for 1 rad/s"),
    ],
    "test-reach-of-crank": [
        (reach("0.0, np.pi"), "not every crank turns fully"),
        (reach("0.0, large"), "can fold only so far"),
        (reach("small, np.pi"), "reach only so far"),
        (reach("large, small"), "the limits are interchanged"),
        (reach("np.degrees(small), np.degrees(large)"), "the limits are in degrees"),
        (reach("min(small, large), max(small, large)", sign="-"), "the law of cosines has a wrong sign"),
        (reach("-large, large"), "on either side of the ground line"),
        (
            function(
                "reach_of_crank(a, b, c, d)",
                "angle = lambda l: np.arccos(np.clip((l**2 + d**2 - c**2) / (2 * l * d), -1, 1))",
                "return min(angle(b + a), angle(b - a)), max(angle(b + a), angle(b - a))",
            ),
            "crank and coupler lie in one line",
        ),
    ],
    "test-coupler-velocity": [
        (
            coupler("s = q[1] + deltaP", "return rP * v[1] * np.array([-np.sin(s), np.cos(s)])"),
            "the velocity of B is missing",
        ),
        (coupler("return a * v[0] * np.array([-np.sin(q[0]), np.cos(q[0])])"), "the velocity of B alone"),
        (velocity_of_P("deltaP"), "it treats δ_P as the angle from the direction of x"),
        (velocity_of_P("q[1]"), "δ_P is missing"),
        (velocity_of_P("q[1] - deltaP"), "δ_P has the wrong sign"),
        (velocity_of_P(rate="v[0] + v[1]"), "θ̇₂ is added to θ̇₃"),
        (velocity_of_P(rate="v[1] - v[0]"), "as seen from the crank"),
        (velocity_of_P(rate="v[0]"), "it lets BP turn with the crank"),
        (
            coupler(
                "s = q[1] + deltaP",
                "return a * np.array([np.cos(q[0]), np.sin(q[0])]) + rP * np.array([np.cos(s), np.sin(s)])",
            ),
            "this is the position of P",
        ),
        (velocity_of_P(x="+1"), "the row of x has the wrong sign"),
    ],
}
